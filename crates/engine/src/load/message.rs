//! Messages from the workers to the watcher.

use std::io;

use record::PathRemark;

use super::interval::Interval;

/// A message from a worker.
pub(crate) enum Message {
    /// Setup succeeded, possibly with remarks on the I/O path, or failed.
    Ready(io::Result<Vec<PathRemark>>),
    /// An interval ended. Syncs are counted separately, because the time series does not contain them.
    Interval { closed: Interval, syncs: u64 },
    /// The worker exited.
    Gone,
}
