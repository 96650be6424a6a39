//! Resets of zones that are not full.

use std::ops::Range;

/// Resets of zones that are not full, of all jobs with the same range.
#[derive(Debug)]
pub(crate) struct Resets {
    pub(crate) zones: Range<usize>,
    pub(crate) written_bytes: u64,
    pub(crate) threshold_bytes: u64,
    pub(crate) every: u32,
    pub(crate) left: u32,
}

impl Resets {
    /// Returns whether the next write resets its zone. Counts the write, once enough of the range is written.
    pub(crate) fn is_due(&mut self) -> bool {
        if self.written_bytes < self.threshold_bytes {
            return false;
        }
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return false;
        }
        self.left = self.every;
        true
    }
}
