//! Values that rules can limit, derived from a drive's health over a run.

use record::{Entry, Event, Health};
use stdx::nearest;
use stdx::units::CELSIUS;

const PREFIX: &str = "health.";

/// A value derived from a run's readings.
pub(crate) struct HealthValue {
    pub key: &'static str,
    pub name: &'static str,
    pub unit: &'static str,
    /// `None` if the drive does not report it.
    of: fn(&[&Health]) -> Option<f64>,
}

/// All of them.
pub(crate) const VALUES: &[HealthValue] = &[
    HealthValue {
        key: "health.temperature",
        name: "highest temperature",
        unit: CELSIUS,
        of: |all| largest(all, |h| h.temperature_celsius.map(f64::from)),
    },
    HealthValue {
        key: "health.critical-warnings",
        name: "critical warnings",
        unit: "",
        of: |all| {
            let bits: Vec<u8> = all.iter().filter_map(|health| health.critical_warning).collect();
            let seen = bits.iter().copied().fold(0, |seen: u8, bits| seen | bits);
            (!bits.is_empty()).then(|| f64::from(seen.count_ones()))
        },
    },
    HealthValue {
        key: "health.spare",
        name: "lowest available spare",
        unit: "%",
        of: |all| {
            largest(all, |h| h.available_spare_percent.map(|spare| -f64::from(spare))).map(|spare| -spare)
        },
    },
    HealthValue {
        key: "health.used",
        name: "used endurance",
        unit: "%",
        of: |all| largest(all, |h| h.percentage_used.map(f64::from)),
    },
    HealthValue {
        key: "health.media-errors",
        name: "new media errors",
        unit: "",
        of: |all| growth(all, |health| health.media_errors),
    },
    HealthValue {
        key: "health.reallocated-sectors",
        name: "newly reallocated sectors",
        unit: "",
        of: |all| growth(all, |health| health.reallocated_sectors),
    },
    HealthValue {
        key: "health.unsafe-shutdowns",
        name: "new unsafe shutdowns",
        unit: "",
        of: |all| growth(all, |health| health.unsafe_shutdowns),
    },
    HealthValue {
        key: "health.throttled",
        name: "time throttled",
        unit: "s",
        of: |all| growth(all, |health| health.throttle_seconds),
    },
    HealthValue {
        key: "health.write-amplification",
        name: "write amplification",
        unit: "",
        of: |all| {
            let host = growth(all, |health| health.host_written_bytes).filter(|bytes| *bytes > 0.0)?;
            growth(all, |health| health.media_written_bytes).map(|media| media / host)
        },
    },
];

fn largest(all: &[&Health], of: fn(&Health) -> Option<f64>) -> Option<f64> {
    all.iter().filter_map(|health| of(health)).reduce(f64::max)
}

/// Returns the growth of a counter between the first and last readings that contain it; `None` if the counter
/// was reset.
fn growth(all: &[&Health], of: fn(&Health) -> Option<u64>) -> Option<f64> {
    let first = all.iter().find_map(|health| of(health))?;
    let last = all.iter().rev().find_map(|health| of(health))?;
    last.checked_sub(first).map(|grown| grown as f64)
}

/// Returns a run's values.
pub(crate) fn values(entries: &[Entry]) -> impl Iterator<Item = (&'static HealthValue, Option<f64>)> {
    let readings: Vec<&Health> = entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::Health { health, .. } => Some(health),
            _ => None,
        })
        .collect();
    VALUES.iter().map(|value| (value, (value.of)(&readings))).collect::<Vec<_>>().into_iter()
}

pub(crate) fn is_health(key: &str) -> bool {
    key.starts_with(PREFIX)
}

/// Returns an error if a health value is mistyped.
pub(crate) fn check_key(key: &str) -> Result<(), String> {
    let keys = || VALUES.iter().map(|value| value.key);
    if !is_health(key) || key.contains('*') || keys().any(|known| known == key) {
        return Ok(());
    }
    Err(match nearest(key, keys()) {
        Some(meant) => format!("no health value '{key}'; did you mean '{meant}'?"),
        None => format!("no health value '{key}'; available: {}", keys().collect::<Vec<_>>().join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(readings: Vec<Health>) -> Vec<(&'static str, f64)> {
        let entry = |(seq, health)| Entry {
            seq: seq as u64,
            wall: jiff::Timestamp::UNIX_EPOCH,
            event: Event::Health { at_ns: seq as u64, health },
        };
        let entries: Vec<Entry> = readings.into_iter().enumerate().map(entry).collect();
        values(&entries).filter_map(|(value, number)| Some((value.key, number?))).collect()
    }

    #[test]
    fn limits_apply_to_extremes_and_to_growth() {
        let reading = |celsius, spare, warning, errors, media| Health {
            temperature_celsius: Some(celsius),
            available_spare_percent: Some(spare),
            critical_warning: Some(warning),
            media_errors: Some(errors),
            host_written_bytes: Some(errors * 1000),
            media_written_bytes: Some(media),
            ..Health::default()
        };
        let found =
            of(vec![reading(30, 100, 0, 7, 0), reading(71, 97, 6, 7, 10), reading(40, 98, 2, 9, 5000)]);
        let expected = [
            ("health.temperature", 71.0),
            ("health.critical-warnings", 2.0),
            ("health.spare", 97.0),
            ("health.media-errors", 2.0),
            ("health.write-amplification", 2.5),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn unreported_values_are_unknown() {
        assert_eq!(of(vec![]), []);
        let errors = |count| Health { media_errors: Some(count), ..Health::default() };
        assert_eq!(of(vec![errors(5), errors(3)]), [], "a counter that was reset");
    }
}
