//! A superblock that is being emptied, slot by slot.

use crate::flash::{Flash, Layout, NONE};

/// Progress of emptying one superblock.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    pub(super) superblock: u32,
    /// The next slot to examine.
    pub(super) cursor: u32,
    pub(super) end: u32,
    /// Number of valid slots when the superblock was chosen. Its ratio to `garbage` paces the copies.
    pub(super) valid: u32,
    /// Number of garbage slots when the superblock was chosen.
    pub(super) garbage: u32,
    /// Fraction of the next copy that writes have already paid for.
    pub(super) credit: u32,
    /// The program unit that was sensed last; its other slots need only a transfer.
    sensed: u32,
    /// The die of that program unit.
    die: usize,
    /// The first slot whose mapping entry has not been prefetched.
    pub(super) fetched: u32,
}

impl Victim {
    pub(super) fn new(layout: &Layout, superblock: u32, valid: u32) -> Self {
        let cursor = superblock * layout.superblock_slots();
        let end = cursor + layout.superblock_slots();
        let garbage = layout.superblock_slots() - valid;
        Self { superblock, cursor, end, valid, garbage, credit: 0, sensed: NONE, die: 0, fetched: 0 }
    }

    /// Returns the next slot, valid or not; `None` at the end.
    pub(super) fn step(&mut self) -> Option<u32> {
        let slot = (self.cursor < self.end).then_some(self.cursor)?;
        self.cursor += 1;
        Some(slot)
    }

    /// Reads `slot`, and returns the time at which its data is available.
    #[inline]
    pub(super) fn read(&mut self, slot: u32, flash: &mut Flash, layout: &Layout, now_ns: u64) -> u64 {
        let unit = slot >> layout.unit_shift();
        if unit == self.sensed {
            return flash.read_again(self.die, now_ns);
        }
        (self.sensed, self.die) = (unit, layout.die_of(slot));
        flash.read(self.die, now_ns, flash.range(slot, 1))
    }
}
