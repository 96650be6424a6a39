//! Figures of a workload in more detail than a run stores.

use stdx::Histogram;

use crate::IoPriority;

/// Figures of a workload in more detail than a run stores. They are only in the result of a load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SegmentDetail {
    /// Mean response times of the reads in each interval, in ns; empty for a workload of one direction.
    pub read_means_ns: Vec<u64>,
    /// The same for the writes.
    pub write_means_ns: Vec<u64>,
    /// Response times by direction and priority; empty for a workload without priorities.
    pub priorities: Vec<PriorityTimes>,
    /// Failed reads that did not end the workload, after its ramp and before its end.
    pub failed_reads: u64,
    /// The same for writes, or trims.
    pub failed_writes: u64,
    /// Resets of zones with data by a workload that writes or trims zones, after its ramp and before its end; `None` for any
    /// other workload.
    pub zone_resets: Option<u64>,
}

/// Response times of the reads or writes of one priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorityTimes {
    /// Whether the I/Os are reads or writes.
    pub read: bool,
    /// Their priority; `None` for that of the process.
    pub priority: Option<IoPriority>,
    /// Response times in ns.
    pub latency: Histogram,
}
