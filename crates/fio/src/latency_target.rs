//! The options of `latency_target`.

use stdx::units::SECOND_NS;

/// The default percentage of I/Os that must be within the limit, in thousandths.
pub(crate) const ALL_MILLI: u32 = 100_000;

/// The options, as set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LatencyTarget {
    /// Longest response time; 0 if the job has no target.
    pub limit_ns: u64,
    /// Time at each depth.
    pub window_ns: u64,
    /// Percentage of the I/Os that must be within the limit, in thousandths.
    pub percent_milli: u32,
    /// Whether the job runs for its own amount or time at the depth that was found.
    pub runs_on: bool,
}

impl Default for LatencyTarget {
    fn default() -> Self {
        Self { limit_ns: 0, window_ns: SECOND_NS, percent_milli: ALL_MILLI, runs_on: false }
    }
}
