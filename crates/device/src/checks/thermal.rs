//! Thermal state: a drive or CPU that is already hot may throttle during the test.

use std::path::{Path, PathBuf};

use super::check::{Check, Finding, Scene, entries, read};

pub(super) const CHECK: Check = Check { name: "thermal state", look };

/// A temperature and its limit, in thousandths of a degree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Thermometer {
    name: String,
    now: i64,
    limit: Option<i64>,
}

fn look(scene: &Scene<'_>) -> Finding {
    let drive = drive(scene);
    let zones: Vec<Thermometer> =
        scene.entries("class/thermal", "thermal_zone").iter().filter_map(|dir| zone(dir)).collect();
    let throttled = scene
        .entries("devices/system/cpu", "cpu")
        .into_iter()
        .filter_map(|cpu| read(cpu.join("thermal_throttle/package_throttle_count"))?.parse::<u64>().ok());
    judge(drive.as_ref(), &zones, throttled.max())
}

fn number(path: PathBuf) -> Option<i64> {
    read(path)?.parse().ok()
}

/// Returns the drive's own sensor (hwmon device of the NVMe or drivetemp driver).
fn drive(scene: &Scene<'_>) -> Option<Thermometer> {
    let device = scene.device.as_ref()?;
    let controller = device.position().join("device");
    let folders =
        entries(&controller, "hwmon").into_iter().chain(entries(&controller.join("hwmon"), "hwmon"));
    folders.into_iter().find_map(|dir| {
        let limit = number(dir.join("temp1_max")).filter(|limit| *limit > 0);
        Some(Thermometer { name: "the drive".into(), now: number(dir.join("temp1_input"))?, limit })
    })
}

/// Returns a thermal zone, with the lowest temperature at which the kernel throttles.
fn zone(dir: &Path) -> Option<Thermometer> {
    let trips = (0..16).filter_map(|trip| {
        let kind = read(dir.join(format!("trip_point_{trip}_type")))?;
        let slows = matches!(kind.as_str(), "passive" | "hot" | "critical");
        number(dir.join(format!("trip_point_{trip}_temp"))).filter(|limit| slows && *limit > 0)
    });
    let name = read(dir.join("type")).unwrap_or_else(|| "a thermal zone".into());
    Some(Thermometer { name, now: number(dir.join("temp"))?, limit: trips.min() })
}

fn judge(drive: Option<&Thermometer>, zones: &[Thermometer], throttled: Option<u64>) -> Finding {
    let degrees = |thousandths: i64| format!("{:.0} {}", thousandths as f64 / 1000.0, stdx::units::CELSIUS);
    let mut findings: Vec<Finding> = Vec::new();
    for thermometer in drive.into_iter().chain(zones) {
        let (name, now) = (&thermometer.name, degrees(thermometer.now));
        match thermometer.limit {
            Some(limit) if thermometer.now >= limit => findings.push(Finding::invalid(
                format!("{name} is at {now} and throttles at {}", degrees(limit)),
                "let it cool down, and improve its airflow",
            )),
            _ => findings.push(Finding::ok(format!("{name} is at {now}"))),
        }
    }
    if let Some(times) = throttled.filter(|times| *times > 0) {
        findings.push(Finding::warn(
            format!("the CPUs have throttled {times} times since boot"),
            "improve the cooling of the host",
        ));
    }
    Finding::worst_of(findings).unwrap_or_else(|| Finding::not_here("the host reports no temperatures"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{NotHere, Ok, Warn, WouldInvalidate};

    #[test]
    fn temperature_at_the_limit_would_invalidate_and_past_throttling_is_reported() {
        let at = |now, limit| Thermometer { name: "the drive".into(), now, limit };
        assert_eq!(judge(None, &[], None).verdict, NotHere);
        assert_eq!(judge(Some(&at(40_850, Some(70_000))), &[], Some(0)).verdict, Ok);
        assert_eq!(judge(Some(&at(70_000, Some(70_000))), &[], None).verdict, WouldInvalidate);
        assert_eq!(judge(None, &[at(90_000, None)], None).verdict, Ok);
        assert_eq!(judge(None, &[at(90_000, Some(85_000))], None).verdict, WouldInvalidate);
        assert_eq!(judge(Some(&at(40_000, None)), &[], Some(3)).verdict, Warn);
    }
}
