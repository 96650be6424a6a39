//! Counts of rare events of one worker.

/// Counts of rare events of one worker, after the ramp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Failed I/Os that the workload tolerates: writes, then reads.
    pub(crate) failed: [u64; 2],
    /// Resets of zones with data.
    pub(crate) zone_resets: u64,
}
