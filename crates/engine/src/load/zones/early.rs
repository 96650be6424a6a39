//! Resets of zones that are not full.

use std::ops::Range;

/// Resets of zones that are not full, of all jobs with the same range.
#[derive(Debug)]
pub(super) struct Resets {
    pub(super) zones: Range<usize>,
    pub(super) written_bytes: u64,
    pub(super) threshold_bytes: u64,
    pub(super) every: u32,
    pub(super) left: u32,
}

impl Resets {
    /// Returns whether the next write resets its zone. Counts the write, once enough of the range is written.
    pub(super) fn is_due(&mut self) -> bool {
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
