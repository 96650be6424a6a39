//! Power as reported by the host: energy counters (RAPL) as means between two readings, and hwmon sensors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Upper bound of the power that a CPU draws. A mean is not reported if a counter may have wrapped more than
/// once since the previous reading, because the mean would be too low.
const MOST_WATTS: u64 = 1000;

/// A reading of an energy counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Energy {
    microjoules: u64,
    /// Value at which the counter wraps.
    range_microjoules: u64,
}

/// The power meters of this host.
#[derive(Debug)]
pub struct PowerMeter {
    sys: PathBuf,
    /// Time and values of the previous reading of the counters.
    before: Option<(Instant, BTreeMap<String, Energy>)>,
}

impl Default for PowerMeter {
    fn default() -> Self {
        Self { sys: "/sys".into(), before: None }
    }
}

impl PowerMeter {
    /// Returns power in mW by meter name, as far as the host reports it: counters as the mean since the
    /// previous call, sensors as their current value.
    pub fn read(&mut self) -> BTreeMap<String, u64> {
        let (now, counters) = (Instant::now(), energies(&self.sys.join("class/powercap")));
        let mut found = sensors(&self.sys.join("class/hwmon"));
        if let Some((then, before)) = &self.before {
            let passed_ns = u64::try_from(now.duration_since(*then).as_nanos()).unwrap_or(u64::MAX);
            let mean = |(name, after): (&String, &Energy)| {
                Some((name.clone(), mean_milliwatts(*before.get(name)?, *after, passed_ns)?))
            };
            found.extend(counters.iter().filter_map(mean));
        }
        self.before = Some((now, counters));
        found
    }
}

fn mean_milliwatts(before: Energy, after: Energy, passed_ns: u64) -> Option<u64> {
    let range = after.range_microjoules;
    let passed_ms = passed_ns / 1_000_000;
    let could_be_used = passed_ms.saturating_mul(MOST_WATTS * 1000);
    if passed_ms == 0 || could_be_used > range.max(1) {
        return None;
    }
    let used = match after.microjoules.checked_sub(before.microjoules) {
        Some(used) => used,
        None => (after.microjoules + range).checked_sub(before.microjoules)?,
    };
    Some(used / passed_ms)
}

/// Reads top-level zones (`intel-rapl:0`), which are packages; their subzones are included in them.
fn energies(folder: &Path) -> BTreeMap<String, Energy> {
    let zone = |dir: &Path| {
        let number = |name: &str| text(&dir.join(name))?.parse().ok();
        let energy =
            Energy { microjoules: number("energy_uj")?, range_microjoules: number("max_energy_range_uj")? };
        Some((text(&dir.join("name"))?, energy))
    };
    let top = |name: &str| name.matches(':').count() == 1 && !name.contains("mmio");
    folders(folder).iter().filter(|(name, _)| top(name)).filter_map(|(_, dir)| zone(dir)).collect()
}

/// Reads power sensors, in uW: that of a drive, or of the whole host.
fn sensors(folder: &Path) -> BTreeMap<String, u64> {
    let sensor = |dir: &Path| {
        let microwatts = ["power1_average", "power1_input"].iter().find_map(|name| text(&dir.join(name)))?;
        Some((text(&dir.join("name"))?, microwatts.parse::<u64>().ok()? / 1000))
    };
    folders(folder).iter().filter_map(|(_, dir)| sensor(dir)).collect()
}

fn folders(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> =
        entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect();
    found.sort();
    found
}

fn text(path: &Path) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const RANGE: u64 = 262_143_328_850;

    fn energy(microjoules: u64) -> Energy {
        Energy { microjoules, range_microjoules: RANGE }
    }

    #[test]
    fn energy_over_time_is_power_also_where_the_counter_goes_round() {
        let mean = |before, after, ms: u64| mean_milliwatts(energy(before), energy(after), ms * 1_000_000);
        assert_eq!(mean(1_000_000, 61_000_000, 2000), Some(30_000));
        assert_eq!(mean(RANGE - 10_000_000, 20_000_000, 1000), Some(30_000));
        assert_eq!(mean(0, 1, 0), None);
        assert_eq!(mean(0, 1_000_000, 3_600_000), None, "an hour may be more than one round");
    }

    #[test]
    fn meters_are_named_and_parts_of_packages_left_out() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = dir.path().join("class").join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        for (zone, name) in [("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core")] {
            write(&format!("powercap/{zone}/name"), name);
            write(&format!("powercap/{zone}/energy_uj"), "1000000\n");
            write(&format!("powercap/{zone}/max_energy_range_uj"), "262143328850\n");
        }
        write("powercap/intel-rapl/enabled", "1\n");
        write("hwmon/hwmon0/name", "power_meter\n");
        write("hwmon/hwmon0/power1_average", "153000000\n");
        write("hwmon/hwmon1/name", "nvme\n");
        let mut meter = PowerMeter { sys: dir.path().into(), before: None };
        assert_eq!(
            meter.read(),
            BTreeMap::from([("power_meter".into(), 153_000)]),
            "a mean needs two readings"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
        write("powercap/intel-rapl:0/energy_uj", "1500000\n");
        let second = meter.read();
        assert!(second["package-0"] > 0 && !second.contains_key("core"), "{second:?}");
    }
}
