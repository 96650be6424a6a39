//! Energy counters and power sensors in sysfs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Upper bound for a CPU's power. No mean is reported if a counter may have wrapped more than once since the
/// previous reading, because the mean would be too low.
const MOST_WATTS: u64 = 1000;

/// A reading of an energy counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Energy {
    pub(crate) microjoules: u64,
    /// Value at which the counter wraps.
    pub(crate) range_microjoules: u64,
}

impl Energy {
    /// Returns the energy between two readings; `None` if the counter may have wrapped more than once.
    pub(crate) fn used_microjoules(self, after: Self, passed_ms: u64) -> Option<u64> {
        let range = after.range_microjoules;
        if passed_ms.saturating_mul(MOST_WATTS * 1000) > range.max(1) {
            return None;
        }
        match after.microjoules.checked_sub(self.microjoules) {
            Some(used) => Some(used),
            None => (after.microjoules + range).checked_sub(self.microjoules),
        }
    }
}

/// Reads top-level zones (`intel-rapl:0`), which are packages and include their subzones.
pub(crate) fn energies(sys: &Path) -> BTreeMap<String, Energy> {
    let zone = |dir: &Path| {
        let number = |name: &str| text(&dir.join(name))?.parse().ok();
        let energy =
            Energy { microjoules: number("energy_uj")?, range_microjoules: number("max_energy_range_uj")? };
        Some((text(&dir.join("name"))?, energy))
    };
    let top = |name: &str| name.matches(':').count() == 1 && !name.contains("mmio");
    folders(&sys.join("class/powercap"))
        .iter()
        .filter(|(name, _)| top(name))
        .filter_map(|(_, dir)| zone(dir))
        .collect()
}

/// A power sensor in uW, either for a drive or for the whole host.
#[derive(Debug, Clone)]
pub(crate) struct Sensor {
    /// Name of the sensor's folder, such as `hwmon3`.
    pub(crate) folder: String,
    pub(crate) name: String,
    /// Path of the attribute that contains the value.
    pub(crate) value: PathBuf,
    /// Whether the value is a mean over some time.
    pub(crate) is_mean: bool,
    /// Tolerance in percent, if the driver reports it.
    pub(crate) accuracy_percent: Option<f64>,
    /// Directory of the sensor's device, without symbolic links.
    pub(crate) device: Option<PathBuf>,
}

impl Sensor {
    pub(crate) fn microwatts(&self) -> Option<u64> {
        text(&self.value)?.parse().ok()
    }
}

/// Returns the first power sensor of each monitoring chip.
pub(crate) fn sensors(sys: &Path) -> Vec<Sensor> {
    let sensor = |(folder, dir): (String, PathBuf)| {
        let attributes = ["power1_average", "power1_input"].map(|name| dir.join(name));
        let value = attributes.iter().find(|value| text(value).is_some())?.clone();
        let accuracy = text(&dir.join("power1_accuracy"));
        Some(Sensor {
            folder,
            name: text(&dir.join("name"))?,
            is_mean: value == attributes[0],
            value,
            accuracy_percent: accuracy.and_then(|text| text.trim_end_matches('%').trim().parse().ok()),
            device: std::fs::canonicalize(dir.join("device")).ok(),
        })
    };
    folders(&sys.join("class/hwmon")).into_iter().filter_map(sensor).collect()
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

    #[test]
    fn energy_is_the_increase_of_a_counter_also_where_it_wraps() {
        const RANGE: u64 = 262_143_328_850;
        let used = |before, after, ms| {
            let energy = |microjoules| Energy { microjoules, range_microjoules: RANGE };
            energy(before).used_microjoules(energy(after), ms)
        };
        assert_eq!(used(1_000_000, 61_000_000, 2000), Some(60_000_000));
        assert_eq!(used(RANGE - 10_000_000, 20_000_000, 1000), Some(30_000_000));
        assert_eq!(used(0, 1_000_000, 3_600_000), None, "an hour may be more than one round");
    }
}
