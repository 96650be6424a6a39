//! Power loss: data that exists only in a volatile write buffer is lost; everything else survives.
//!
//! The simulator keeps no older versions of lost data: the affected map units read as never written. The collector
//! never loses data, because it erases a source only after copying it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ssd::Ssd;
use crate::write::Open;

/// Slots of host data whose programs have not ended, per die in the order of their ends. Maintained only on a
/// drive with a volatile buffer and a power loss ahead.
pub(crate) struct UnprogrammedSlots(Vec<VecDeque<Range<u32>>>);

impl UnprogrammedSlots {
    pub(crate) fn new(dies: u32) -> Self {
        Self(vec![VecDeque::new(); dies as usize])
    }

    /// Records that a program of these slots was sent to `die`.
    pub(crate) fn sent(&mut self, die: usize, slots: Range<u32>) {
        self.0[die].push_back(slots);
    }

    /// Records that the oldest program on `die` has ended.
    pub(crate) fn ended(&mut self, die: usize) {
        self.0[die].pop_front();
    }
}

impl Ssd {
    /// Discards data that exists only in the buffer.
    pub(crate) fn lose_buffer(&mut self) {
        let Some(UnprogrammedSlots(dies)) = self.unwritten.as_deref() else { return };
        let being_filled = [self.host, self.log.open].map(|open| open.next - open.filled..open.next);
        let lost: Vec<u32> = dies.iter().flatten().cloned().chain(being_filled).flatten().collect();
        for slot in lost {
            // If the data was overwritten or moved since, the slot no longer holds it.
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

/// Abandons the program unit being filled without writing it. Returns the number of buffer slots it held.
fn abandon(open: &mut Open, unit_shift: u32) -> u32 {
    let filled = std::mem::take(&mut open.filled);
    if filled > 0 {
        open.next = (((open.next - 1) >> unit_shift) + 1) << unit_shift;
    }
    filled
}
