//! Whether a job may use a drive: a pure function of what the drive and its host report.

use device::Conditions;
use record::{Health, HostCheck, HostVerdict};
use serde::Deserialize;
use stdx::units::CELSIUS;

/// Limits that an operator sets for drives. Without them, only what a drive itself reports as a fault counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// Highest temperature in degrees Celsius.
    pub max_temperature: Option<i16>,
    /// Lowest available spare in percent.
    pub min_spare: Option<u8>,
    /// Highest percentage of the rated endurance that may be used.
    pub max_used: Option<u8>,
    /// Largest number of unrecovered data errors.
    pub max_media_errors: Option<u64>,
    /// Largest number of reallocated sectors.
    pub max_reallocated: Option<u64>,
}

/// A value of a drive's health that can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Temperature.
    Temperature,
    /// Available spare.
    Spare,
    /// Used endurance.
    Used,
    /// Unrecovered data errors.
    MediaErrors,
    /// Reallocated sectors.
    Reallocated,
}

impl Quantity {
    const fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::Spare => "available spare",
            Self::Used => "used endurance",
            Self::MediaErrors => "media errors",
            Self::Reallocated => "reallocated sectors",
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::Temperature => CELSIUS,
            Self::Spare | Self::Used => "%",
            Self::MediaErrors | Self::Reallocated => "",
        }
    }
}

/// Why a job must not use a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The drive reports critical warnings: the bits of NVMe's Critical Warning.
    CriticalWarning(u8),
    /// The drive is throttled now.
    Throttled,
    /// A value of the drive's health exceeds its limit, or is below it: value and limit.
    Beyond(Quantity, i64, i64),
    /// There is a limit for a value that the drive does not report.
    Unreported(Quantity),
    /// A check of the drive's link or of the limits on this process would invalidate results.
    Check(HostCheck),
    /// The drive or its host is hot.
    Hot(HostCheck),
}

/// Bits of NVMe's Critical Warning, and their meaning.
const WARNINGS: [(u8, &str); 6] = [
    (0x01, "its spare is below the threshold"),
    (0x02, "its temperature is beyond a threshold"),
    (0x04, "its reliability is degraded"),
    (0x08, "it is read-only"),
    (0x10, "the backup of its volatile memory has failed"),
    (0x20, "its persistent memory region is unreliable"),
];
/// The bit that is cleared when the drive has cooled down.
const TEMPERATURE_BIT: u8 = 0x02;

impl Unfit {
    /// Whether the reason may disappear while the drive is idle.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        match self {
            Self::CriticalWarning(bits) => *bits == TEMPERATURE_BIT,
            Self::Throttled | Self::Hot(_) | Self::Beyond(Quantity::Temperature, ..) => true,
            Self::Beyond(..) | Self::Unreported(_) | Self::Check(_) => false,
        }
    }
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CriticalWarning(bits) => {
                let known = WARNINGS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, meaning)| *meaning);
                let known: Vec<&str> = known.collect();
                write!(f, "the drive reports critical warning {bits:02x}h")?;
                if known.is_empty() { Ok(()) } else { write!(f, ": {}", known.join(", ")) }
            }
            Self::Throttled => write!(f, "the drive is throttled"),
            Self::Beyond(quantity, value, limit) => {
                let unit = match quantity.unit() {
                    "" => String::new(),
                    unit => format!(" {unit}"),
                };
                write!(f, "{}: {value}{unit}; the limit is {limit}{unit}", quantity.name())
            }
            Self::Unreported(quantity) => {
                write!(f, "{}: there is a limit, but the drive does not report it", quantity.name())
            }
            Self::Check(check) | Self::Hot(check) => write!(f, "{}: {}", check.name, check.found),
        }
    }
}

/// Returns why a job must not use a drive with this health under these conditions; nothing if it may. Without a drive,
/// only the conditions count.
#[must_use]
pub fn unfit(health: Option<&Health>, conditions: Option<&Conditions>, limits: &Limits) -> Vec<Unfit> {
    let mut reasons = health.map(|health| of_health(health, limits)).unwrap_or_default();
    let is_bad = |check: &&HostCheck| check.verdict == HostVerdict::WouldInvalidate;
    if let Some(Conditions { link, limits, thermal }) = conditions {
        reasons.extend([link, limits].into_iter().filter(is_bad).cloned().map(Unfit::Check));
        reasons.extend([thermal].into_iter().filter(is_bad).cloned().map(Unfit::Hot));
    }
    reasons
}

fn of_health(health: &Health, limits: &Limits) -> Vec<Unfit> {
    let mut reasons = Vec::new();
    reasons.extend(health.critical_warning.filter(|bits| *bits != 0).map(Unfit::CriticalWarning));
    reasons.extend(health.throttling.filter(|slow| *slow).map(|_| Unfit::Throttled));
    let count = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let limited = [
        (
            Quantity::Temperature,
            health.temperature_celsius.map(i64::from),
            limits.max_temperature.map(i64::from),
        ),
        (Quantity::Spare, health.available_spare_percent.map(i64::from), limits.min_spare.map(i64::from)),
        (Quantity::Used, health.percentage_used.map(i64::from), limits.max_used.map(i64::from)),
        (Quantity::MediaErrors, health.media_errors.map(count), limits.max_media_errors.map(count)),
        (Quantity::Reallocated, health.reallocated_sectors.map(count), limits.max_reallocated.map(count)),
    ];
    for (quantity, value, limit) in limited {
        let Some(limit) = limit else { continue };
        reasons.extend(match value {
            None => Some(Unfit::Unreported(quantity)),
            Some(value) => {
                let is_beyond = if quantity == Quantity::Spare { value < limit } else { value > limit };
                is_beyond.then_some(Unfit::Beyond(quantity, value, limit))
            }
        });
    }
    reasons
}

impl Limits {
    /// Returns the limits as options of `plateau fleet check`.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let text = |name: &str, limit: Option<String>| limit.map(|limit| format!("--{name}={limit}"));
        [
            text("max-temperature", self.max_temperature.map(|limit| limit.to_string())),
            text("min-spare", self.min_spare.map(|limit| limit.to_string())),
            text("max-used", self.max_used.map(|limit| limit.to_string())),
            text("max-media-errors", self.max_media_errors.map(|limit| limit.to_string())),
            text("max-reallocated", self.max_reallocated.map(|limit| limit.to_string())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, verdict: HostVerdict) -> HostCheck {
        HostCheck { name: name.into(), verdict, found: "16 GT/s x2".into(), fix: None, tunable: false }
    }

    fn texts(reasons: &[Unfit]) -> Vec<String> {
        reasons.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_drive_is_fit_unless_it_reports_a_fault_or_exceeds_a_limit() {
        let good = Health {
            temperature_celsius: Some(40),
            critical_warning: Some(0),
            available_spare_percent: Some(10),
            percentage_used: Some(120),
            media_errors: Some(3),
            throttling: Some(false),
            ..Health::default()
        };
        let judged = |health: &Health, limits: &Limits| unfit(Some(health), None, limits);
        assert_eq!(judged(&good, &Limits::default()), []);
        let at_limit = Limits {
            max_temperature: Some(40),
            min_spare: Some(10),
            max_used: Some(120),
            max_media_errors: Some(3),
            max_reallocated: None,
        };
        assert_eq!(judged(&good, &at_limit), []);
        let beyond = Limits {
            max_temperature: Some(39),
            min_spare: Some(11),
            max_used: Some(119),
            max_media_errors: Some(2),
            max_reallocated: Some(0),
        };
        let reasons = judged(&good, &beyond);
        let expected = [
            "temperature: 40 \u{b0}C; the limit is 39 \u{b0}C",
            "available spare: 10 %; the limit is 11 %",
            "used endurance: 120 %; the limit is 119 %",
            "media errors: 3; the limit is 2",
            "reallocated sectors: there is a limit, but the drive does not report it",
        ];
        assert_eq!(texts(&reasons), expected);
        let temporary: Vec<bool> = reasons.iter().map(Unfit::is_temporary).collect();
        assert_eq!(temporary, [true, false, false, false, false]);

        let warned = |bits| Health { critical_warning: Some(bits), ..Health::default() };
        for (bits, is_temporary) in [(0x02, true), (0x03, false), (0x08, false), (0x80, false)] {
            let reasons = judged(&warned(bits), &Limits::default());
            assert_eq!(reasons, [Unfit::CriticalWarning(bits)]);
            assert_eq!(reasons[0].is_temporary(), is_temporary, "{bits:x}");
        }
        assert_eq!(
            texts(&judged(&warned(0x0c), &Limits::default())),
            ["the drive reports critical warning 0ch: its reliability is degraded, it is read-only"]
        );
        let slow = Health { throttling: Some(true), ..Health::default() };
        assert_eq!(judged(&slow, &Limits::default()), [Unfit::Throttled]);
    }

    #[test]
    fn a_bad_link_stays_bad_and_heat_passes() {
        let conditions = |link, thermal| Conditions {
            link: check("PCIe link", link),
            limits: check("control group", HostVerdict::Warn),
            thermal: check("thermal state", thermal),
        };
        let judged = |conditions: &Conditions| unfit(None, Some(conditions), &Limits::default());
        assert_eq!(judged(&conditions(HostVerdict::Warn, HostVerdict::NotHere)), []);
        let reasons = judged(&conditions(HostVerdict::WouldInvalidate, HostVerdict::WouldInvalidate));
        assert_eq!(texts(&reasons), ["PCIe link: 16 GT/s x2", "thermal state: 16 GT/s x2"]);
        assert!(!reasons[0].is_temporary() && reasons[1].is_temporary());
    }

    #[test]
    fn limits_become_options() {
        let limits = Limits { max_temperature: Some(60), max_media_errors: Some(0), ..Limits::default() };
        assert_eq!(limits.options(), ["--max-temperature=60", "--max-media-errors=0"]);
        assert_eq!(Limits::default().options(), [""; 0]);
    }
}
