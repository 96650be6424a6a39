//! Results of one completed workload.

use serde::{Deserialize, Serialize};
use stdx::histogram::stored::StoredColumns;
use stdx::units::SECOND_NS;
use stdx::{Histogram, Packed};

use crate::{HostLoad, IoEngine, IoPath, OnFile, Power, SegmentDetail, Synced, Until, Verified, Workload};

/// A completed workload: the request and all measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// The requested workload.
    pub workload: Workload,
    /// Start on the target's clock.
    pub start_ns: u64,
    /// End on the target's clock. Counts include the I/Os that completed between start and end.
    pub end_ns: u64,
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// Counts and response times per interval.
    pub series: Series,
    /// Failed I/Os, by error; [`Direction::ios`] does not include them.
    pub errors: Vec<ErrorCount>,
    /// How the I/Os were submitted.
    pub io_path: IoPath,
    /// The interruption between the previous segment and this one; `None` if there was none.
    pub gap_before: Option<Gap>,
    /// Load on the host; `None` for a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostLoad>,
    /// Power during the workload; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Facts about the target and the devices below it, if it is a file; `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_file: Option<OnFile>,
    /// Verification result; `None` for a workload that does not verify its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// Syncs; `None` for a workload without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced: Option<Synced>,
    /// Figures in more detail, which are not stored; `None` if there are none.
    #[serde(skip)]
    pub detail: Option<Box<SegmentDetail>>,
}

/// I/Os of one direction, read or write.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// Completed I/Os.
    pub ios: u64,
    /// Completed bytes.
    pub bytes: u64,
    /// Response times of all I/Os in ns.
    #[serde(with = "crate::histogram_wire")]
    pub latency: Histogram,
}

/// Totals per interval of one second (one scaled second on a scaled simulated drive). All lists have the same
/// length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Length of each interval; the last one may be shorter.
    pub interval_ns: u64,
    /// Reads completed in each interval.
    #[serde(with = "crate::packed_wire")]
    pub read_ios: Packed,
    /// Writes completed in each interval.
    #[serde(with = "crate::packed_wire")]
    pub write_ios: Packed,
    /// Mean response time of each interval in ns; 0 for an interval without I/O.
    #[serde(
        serialize_with = "crate::packed_wire::serialize",
        deserialize_with = "crate::packed_wire::deserialize_detail"
    )]
    pub latency_mean_ns: Packed,
    /// Largest response time in each interval, in ns.
    #[serde(
        serialize_with = "crate::packed_wire::serialize",
        deserialize_with = "crate::packed_wire::deserialize_detail"
    )]
    pub latency_max_ns: Packed,
    /// Response times of reads and writes in ns, as one coarse histogram per column; a column covers one or more
    /// intervals. `None` if they were not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::columns_wire")]
    pub times: Option<StoredColumns>,
}

/// A workload that a device failure interrupted. It is never used as a result; it documents the device's
/// performance up to the failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// The requested workload.
    pub workload: Workload,
    /// Start on the target's clock in ns.
    pub start_ns: u64,
    /// Counts and response times up to the last complete interval.
    pub series: Series,
    /// Failed I/Os, by error.
    pub errors: Vec<ErrorCount>,
}

/// Number of I/Os that failed with one error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorCount {
    /// The errno name: `EIO`, `ENODATA`.
    pub kind: String,
    /// Number of failed I/Os.
    pub count: u64,
}

/// An interruption of the run, during which the drive was left idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Wall-clock time in ns from the last event before the interruption to the resumption.
    pub length_ns: u64,
}

impl Segment {
    /// Returns a simulated drive's segment from `start_ns` to `end_ns`.
    #[must_use]
    pub fn simulated(
        workload: Workload,
        (start_ns, end_ns): (u64, u64),
        (read, write): (Direction, Direction),
        series: Series,
    ) -> Self {
        Self {
            workload,
            start_ns,
            end_ns,
            read,
            write,
            series,
            errors: Vec::new(),
            io_path: IoEngine::Simulated.into(),
            gap_before: None,
            host: None,
            power: None,
            on_file: None,
            verified: None,
            synced: None,
            detail: None,
        }
    }

    /// Returns the segment's exact length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / SECOND_NS as f64
    }

    /// Returns the requested length of a timed workload in ns on the target's clock, on which a simulated drive
    /// divides times by `scale_divisor`; `None` if the workload ends after an amount.
    #[must_use]
    pub fn requested_ns(&self, scale_divisor: u32) -> Option<u64> {
        match self.workload.until {
            Until::DurationNs(ns) => Some((ns / u64::from(scale_divisor.max(1))).max(1)),
            Until::AmountBytes(_) => None,
        }
    }

    /// Returns the factor by which a simulated drive extended a timed workload so that enough I/Os completed;
    /// `None` if it was not extended.
    #[must_use]
    pub fn extended_by(&self, scale_divisor: u32) -> Option<f64> {
        // A workload that ended with a failed I/O has no meaningful length.
        if self.verified.as_ref().is_some_and(|verified| verified.failed.is_some()) {
            return None;
        }
        let requested_ns = self.requested_ns(scale_divisor)?;
        let elapsed_ns = self.end_ns.saturating_sub(self.start_ns);
        let extended = self.io_path.engine == IoEngine::Simulated && elapsed_ns > requested_ns;
        extended.then(|| elapsed_ns as f64 / requested_ns as f64)
    }

    /// Returns the number of reads and writes per second (PTS: a cell's IOPS in a round); 0 for an empty
    /// segment.
    #[must_use]
    pub fn iops(&self) -> f64 {
        per_second((self.read.ios + self.write.ios) as f64, self.seconds())
    }

    /// Returns the throughput of reads and writes in MB/s (base 10).
    #[must_use]
    pub fn megabytes_per_second(&self) -> f64 {
        per_second((self.read.bytes + self.write.bytes) as f64, self.seconds()) / 1e6
    }

    /// Returns the mean response time of all I/Os in ms; `None` if there was no I/O.
    #[must_use]
    pub fn mean_latency_ms(&self) -> Option<f64> {
        let count = self.read.latency.count() + self.write.latency.count();
        let sum = self.read.latency.sum() + self.write.latency.sum();
        (count > 0).then(|| sum as f64 / count as f64 / 1e6)
    }

    /// Returns the largest response time of either direction in ms; `None` if there was no I/O.
    #[must_use]
    pub fn max_latency_ms(&self) -> Option<f64> {
        self.read.latency.max().max(self.write.latency.max()).map(|ns| ns as f64 / 1e6)
    }

    /// Returns the number of failed I/Os.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.iter().map(|e| e.count).sum()
    }
}

fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}
