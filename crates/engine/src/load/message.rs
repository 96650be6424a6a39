//! Messages from the workers to the watcher.

use std::io;

use record::PathRemark;

use super::interval::Interval;

/// A message from a worker.
pub(crate) enum Message {
    /// Setup succeeded, possibly with remarks on the I/O path, or failed.
    Ready(io::Result<Vec<PathRemark>>),
    /// An interval ended.
    Interval(Interval),
    /// The worker exited.
    Gone,
}
