//! What a running load reports.

pub use stdx::Flow;

/// Progress of a running workload: what happened since the previous tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// Time since the start of the workload.
    pub elapsed_ns: u64,
    /// Time since the previous tick; divide the following sums by it to get rates.
    pub interval_ns: u64,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Mean response time of reads and writes, 0 without I/O.
    pub latency_mean_ns: u64,
    /// Longest response time.
    pub latency_max_ns: u64,
    /// Completed fraction of the workload, 0 to 1.
    pub share_done: f64,
}
