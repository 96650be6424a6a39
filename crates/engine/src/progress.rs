//! Progress reports for a running load.

pub use stdx::Flow;

/// Progress of a running workload since the previous tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// Time since the start of the workload.
    pub elapsed_ns: u64,
    /// Time since the previous tick; divide the sums below by it to get rates.
    pub interval_ns: u64,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Completed syncs, which do not count as I/Os.
    pub syncs: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Mean response time of reads and writes; 0 if there were no I/Os.
    pub latency_mean_ns: u64,
    /// Maximum response time.
    pub latency_max_ns: u64,
    /// Completed fraction of the workload, 0 to 1.
    pub share_done: f64,
}
