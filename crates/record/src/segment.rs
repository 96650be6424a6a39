//! What a drive answered: one finished workload.

use serde::{Deserialize, Serialize};
use stdx::Histogram;
use stdx::histogram::coarse::Columns;
use stdx::units::SECOND_NS;

use crate::{HostLoad, IoPath, Workload};

/// A finished workload: what was asked and everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// What was asked.
    pub workload: Workload,
    /// Start on the target's clock.
    pub start_ns: u64,
    /// End on the target's clock. The I/Os counted are those that completed in between.
    pub end_ns: u64,
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// The course of it.
    pub series: Series,
    /// I/Os that the device refused, by kind. Not counted in [`Direction::ios`].
    pub errors: Vec<ErrorCount>,
    /// How the I/Os reached the target.
    pub io_path: IoPath,
    /// Set when the run was interrupted between the previous segment and this one.
    pub gap_before: Option<Gap>,
    /// The host's part in it; none for a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostLoad>,
}

/// I/Os of one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// Completed I/Os.
    pub ios: u64,
    /// Completed bytes.
    pub bytes: u64,
    /// Response times in ns, every one of them.
    #[serde(with = "crate::histogram_wire")]
    pub latency: Histogram,
}

/// Sums per interval (a second; a scaled second on a scaled simulated drive). Columns of equal length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Length of each interval; the last one may be shorter.
    pub interval_ns: u64,
    /// Reads completed in each interval.
    pub read_ios: Vec<u64>,
    /// Writes completed in each interval.
    pub write_ios: Vec<u64>,
    /// Mean response time of the interval in ns, 0 without I/O.
    pub latency_mean_ns: Vec<u64>,
    /// Largest response time of the interval in ns.
    pub latency_max_ns: Vec<u64>,
    /// Response times in ns of each interval, or of as many as a column has, reads and writes together; none where
    /// they were not noted.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::columns_wire")]
    pub times: Option<Columns>,
}

/// A workload that the device cut: no answer, and never used as one. It shows how the device did until it failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// What was asked.
    pub workload: Workload,
    /// Start on the target's clock in ns.
    pub start_ns: u64,
    /// The course of it up to its last finished interval.
    pub series: Series,
    /// I/Os that failed, by kind.
    pub errors: Vec<ErrorCount>,
}

/// How often the device answered with one kind of error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorCount {
    /// The kernel's name of it: `EIO`, `ENODATA`.
    pub kind: String,
    /// Number of I/Os.
    pub count: u64,
}

/// An interruption: the drive was left to itself for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Wall-clock length in ns, from the last event before to the resumption.
    pub length_ns: u64,
}

impl Segment {
    /// Exact length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / SECOND_NS as f64
    }

    /// Reads and writes per second (PTS: IOPS of a cell in a round); 0 for an empty segment.
    #[must_use]
    pub fn iops(&self) -> f64 {
        per_second((self.read.ios + self.write.ios) as f64, self.seconds())
    }

    /// Reads and writes in MB/s, base 10.
    #[must_use]
    pub fn megabytes_per_second(&self) -> f64 {
        per_second((self.read.bytes + self.write.bytes) as f64, self.seconds()) / 1e6
    }

    /// Mean response time over all I/Os in ms, weighted by count; none without I/O.
    #[must_use]
    pub fn mean_latency_ms(&self) -> Option<f64> {
        let count = self.read.latency.count() + self.write.latency.count();
        let sum = self.read.latency.sum() + self.write.latency.sum();
        (count > 0).then(|| sum as f64 / count as f64 / 1e6)
    }

    /// Largest response time of either direction in ms; none without I/O.
    #[must_use]
    pub fn max_latency_ms(&self) -> Option<f64> {
        self.read.latency.max().max(self.write.latency.max()).map(|ns| ns as f64 / 1e6)
    }

    /// Number of I/Os that the device refused.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.iter().map(|e| e.count).sum()
    }
}

fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}
