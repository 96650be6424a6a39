//! The energy that the CPU packages use (RAPL). This is not the drive's energy: the load can have caused only
//! the part above idle power, and most of that is the host's own work.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use record::{PowerFacts, PowerSubject};

use crate::error::PowerError;
use crate::source::{Kind, Opened, Sample, Source, Surroundings};
use crate::sysfs::{Energy, energies};

pub(super) const KIND: Kind = Kind {
    name: "rapl",
    argument: None,
    about: "energy of the CPU packages; only the part above idle power is attributed to the load",
    is_per_drive: false,
    needs_trust: false,
    open,
};

/// Shorter intervals between two readings contain too few counter updates.
const SHORTEST: Duration = Duration::from_millis(50);

struct Rapl {
    sys: PathBuf,
    before: Option<(Instant, BTreeMap<String, Energy>)>,
}

impl Rapl {
    fn counters(&self) -> Result<BTreeMap<String, Energy>, PowerError> {
        let mut all = energies(&self.sys);
        // Other top-level zones, such as psys, contain the packages.
        all.retain(|name, _| name.starts_with("package"));
        if all.is_empty() {
            let why = "no package in /sys/class/powercap reports its energy to this user";
            return Err(PowerError::absent("rapl", why));
        }
        Ok(all)
    }

    fn since(&mut self, now: Instant) -> Result<Vec<Sample>, PowerError> {
        let after = self.counters()?;
        let sample = self.before.as_ref().and_then(|(then, before)| {
            let passed = now.duration_since(*then);
            let used = |(name, after): (&String, &Energy)| {
                before.get(name)?.used_microjoules(*after, u64::try_from(passed.as_millis()).ok()?)
            };
            let used: Option<Vec<u64>> = after.iter().map(used).collect();
            let joules = used?.iter().sum::<u64>() as f64 / 1e6;
            Some(Sample { watts: joules / passed.as_secs_f64(), seconds: passed.as_secs_f64() })
        });
        self.before = Some((now, after));
        Ok(sample.into_iter().collect())
    }
}

impl Source for Rapl {
    fn begin(&mut self) -> Result<Vec<Sample>, PowerError> {
        self.before = Some((Instant::now(), self.counters()?));
        Ok(Vec::new())
    }

    fn read(&mut self) -> Result<Vec<Sample>, PowerError> {
        let now = Instant::now();
        let is_early = self.before.as_ref().is_some_and(|(then, _)| now.duration_since(*then) < SHORTEST);
        if is_early { Ok(Vec::new()) } else { self.since(now) }
    }
}

fn open(_: &str, around: Surroundings) -> Result<Opened, PowerError> {
    let rapl = Rapl { sys: around.sys, before: None };
    let count = rapl.counters()?.len();
    let packages = if count == 1 { "the CPU package".into() } else { format!("{count} CPU packages") };
    let facts = PowerFacts {
        source: String::new(),
        meter: format!("energy counter (RAPL) of {packages}, not of the drive"),
        subject: PowerSubject::Host,
        resolution_microwatts: None,
        tolerance_ppm: None,
    };
    Ok(Opened { facts, source: Box::new(rapl) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn count(sys: &Path, zone: &str, name: &str, microjoules: u64) {
        let dir = sys.join("class/powercap").join(zone);
        fs::create_dir_all(&dir).expect("a folder");
        for (attribute, value) in [
            ("name", name.to_owned()),
            ("energy_uj", microjoules.to_string()),
            ("max_energy_range_uj", "262143328850".into()),
        ] {
            fs::write(dir.join(attribute), value).expect("an attribute");
        }
    }

    #[test]
    fn power_is_the_energy_of_all_packages_over_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let sys = dir.path();
        count(sys, "intel-rapl:0", "package-0", 1_000_000);
        count(sys, "intel-rapl:1", "package-1", 5_000_000);
        count(sys, "intel-rapl:2", "psys", 9_000_000);
        let start = Instant::now();
        let mut rapl = Rapl { sys: sys.into(), before: None };
        assert_eq!(rapl.since(start).expect("readable"), []);
        count(sys, "intel-rapl:0", "package-0", 21_000_000);
        count(sys, "intel-rapl:1", "package-1", 15_000_000);
        count(sys, "intel-rapl:2", "psys", 99_000_000);
        let samples = rapl.since(start + Duration::from_secs(2)).expect("readable");
        assert_eq!(samples, [Sample { watts: 15.0, seconds: 2.0 }]);
    }

    #[test]
    fn without_counters_it_is_absent() {
        let dir = tempfile::tempdir().expect("a folder");
        let around = Surroundings { sys: dir.path().into(), ..Surroundings::default() };
        assert!(open("", around).map(|_| ()).expect_err("none").to_string().contains("powercap"));
    }
}
