//! Power as the host reports it: means between two readings of energy counters (RAPL), and values of hwmon
//! sensors.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use crate::sysfs::{Energy, energies, sensors};

/// The power meters of this host.
#[derive(Debug)]
pub struct HostMeters {
    sys: PathBuf,
    /// Time and values of the previous reading of the counters.
    before: Option<(Instant, BTreeMap<String, Energy>)>,
}

impl Default for HostMeters {
    fn default() -> Self {
        Self { sys: "/sys".into(), before: None }
    }
}

impl HostMeters {
    /// Returns power in mW by meter name, if the host reports any: for counters, the mean since the previous
    /// call; for sensors, the current value.
    pub fn read(&mut self) -> BTreeMap<String, u64> {
        let (now, counters) = (Instant::now(), energies(&self.sys));
        let current = |sensor: crate::sysfs::Sensor| Some((sensor.name.clone(), sensor.microwatts()? / 1000));
        let mut found: BTreeMap<String, u64> = sensors(&self.sys).into_iter().filter_map(current).collect();
        if let Some((then, before)) = &self.before {
            let passed_ms = u64::try_from(now.duration_since(*then).as_millis()).unwrap_or(u64::MAX);
            let mean = |(name, after): (&String, &Energy)| {
                let used = before.get(name)?.used_microjoules(*after, passed_ms)?;
                Some((name.clone(), used.checked_div(passed_ms)?))
            };
            found.extend(counters.iter().filter_map(mean));
        }
        self.before = Some((now, counters));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
        let mut meter = HostMeters { sys: dir.path().into(), before: None };
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
