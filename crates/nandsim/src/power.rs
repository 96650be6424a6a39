//! Loss of power: what only a volatile write buffer holds is gone, all else is there when the drive is back.
//!
//! The simulator keeps no older version of what was lost: such map units read as never written. What the collector
//! moves is never lost, because its source is erased only behind it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ssd::Ssd;
use crate::write::Open;

/// Slots of the host's data whose programs have not ended, by die in the order of their ends. Kept only while a loss of
/// power lies ahead of a drive with a volatile buffer.
pub(crate) struct Unwritten(Vec<VecDeque<Range<u32>>>);

impl Unwritten {
    pub(crate) fn new(dies: u32) -> Self {
        Self(vec![VecDeque::new(); dies as usize])
    }

    /// A program of these slots was sent to `die`.
    pub(crate) fn sent(&mut self, die: usize, slots: Range<u32>) {
        self.0[die].push_back(slots);
    }

    /// The first of them on `die` has ended.
    pub(crate) fn ended(&mut self, die: usize) {
        self.0[die].pop_front();
    }
}

impl Ssd {
    /// Forgets what only the buffer holds.
    pub(crate) fn lose_buffer(&mut self) {
        let Some(Unwritten(dies)) = self.unwritten.as_deref() else { return };
        let being_filled = [self.host, self.log.open].map(|open| open.next - open.filled..open.next);
        let lost: Vec<u32> = dies.iter().flatten().cloned().chain(being_filled).flatten().collect();
        for slot in lost {
            // Of what was written again since, or moved, this slot holds nothing.
            if self.map.is_valid(slot) {
                self.map.unmap(self.map.p2l[slot as usize]);
            }
        }
        let unit_shift = self.plan.unit_shift;
        for open in [&mut self.host, &mut self.log.open] {
            self.buffer_used -= abandon(open, unit_shift);
        }
    }
}

/// Leaves the program unit that is being filled as it is, unwritten: how many slots of the buffer it had.
fn abandon(open: &mut Open, unit_shift: u32) -> u32 {
    let filled = std::mem::take(&mut open.filled);
    if filled > 0 {
        open.next = (((open.next - 1) >> unit_shift) + 1) << unit_shift;
    }
    filled
}
