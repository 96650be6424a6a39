//! Slots with host data that exists only in the write buffer. If the buffer is volatile, a power loss destroys
//! this data.

use std::collections::VecDeque;
use std::ops::Range;

/// Slots with host data whose program operations have not completed, per die, in order of completion.
/// Maintained only on a drive with a volatile buffer for which a power loss is scheduled.
pub(super) struct UnprogrammedSlots(Vec<VecDeque<Range<u32>>>);

impl UnprogrammedSlots {
    pub(super) fn new(dies: u32) -> Self {
        Self(vec![VecDeque::new(); dies as usize])
    }

    /// Records that these slots were sent to `die`.
    pub(super) fn sent(&mut self, die: usize, slots: Range<u32>) {
        self.0[die].push_back(slots);
    }

    /// Records that the oldest program operation on `die` has completed.
    pub(super) fn ended(&mut self, die: usize) {
        self.0[die].pop_front();
    }

    /// Returns all recorded slots.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flatten().cloned().flatten()
    }
}
