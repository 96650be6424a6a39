//! Power during the workloads of a run, and the meter that measured it.

use serde::{Deserialize, Serialize};

/// Power over an interval, such as one workload. Values are in microwatts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Mean of the samples, weighted by the time that each sample covers; for an upper bound, the largest
    /// sample.
    pub mean_microwatts: u64,
    /// Smallest sample.
    pub min_microwatts: u64,
    /// Largest sample.
    pub max_microwatts: u64,
    /// Number of samples.
    pub samples: u32,
    /// Standard error of the mean; `None` if there are fewer than two samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error_microwatts: Option<u64>,
    /// Tolerance of the meter at this mean, plus half its resolution; `None` if the tolerance is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance_microwatts: Option<u64>,
}

/// The meter that measures power during a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerFacts {
    /// The source as requested, such as `hwmon:nvme`, `rapl` or `command:/usr/local/bin/meter`.
    pub source: String,
    /// Description of the meter.
    pub meter: String,
    /// What the meter measures.
    pub subject: PowerSubject,
    /// Smallest difference between two readings, in microwatts; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_microwatts: Option<u64>,
    /// Tolerance in millionths of the reading; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance_ppm: Option<u32>,
}

/// What a meter measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerSubject {
    /// The power of the drive.
    Drive,
    /// The power of the host or part of it. Only the increase over idle power is attributed to the workload.
    Host,
    /// An upper bound on the power of the drive.
    UpperBound,
}

impl PowerFacts {
    /// Returns the tolerance of a reading with this value, plus half the resolution, in microwatts; `None` if
    /// the tolerance is not known.
    #[must_use]
    pub fn tolerance_at(&self, microwatts: u64) -> Option<u64> {
        let share = u128::from(microwatts) * u128::from(self.tolerance_ppm?) / 1_000_000;
        let tolerance = u64::try_from(share).unwrap_or(u64::MAX);
        Some(tolerance.saturating_add(self.resolution_microwatts.unwrap_or(0) / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_includes_half_the_resolution_and_is_unknown_without_a_statement() {
        let stated = PowerFacts {
            source: "serial:/dev/ttyUSB0".into(),
            meter: "serial port /dev/ttyUSB0".into(),
            subject: PowerSubject::Drive,
            resolution_microwatts: Some(10_000),
            tolerance_ppm: Some(5_000),
        };
        assert_eq!(stated.tolerance_at(2_000_000), Some(15_000));
        assert_eq!(PowerFacts { tolerance_ppm: None, ..stated }.tolerance_at(2_000_000), None);
    }
}
