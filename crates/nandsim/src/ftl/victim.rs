//! A superblock that is being emptied, slot by slot.

use crate::flash::{Flash, Layout, NONE};

/// The state of emptying one superblock.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    pub(super) superblock: u32,
    /// Next slot to examine.
    pub(super) cursor: u32,
    pub(super) end: u32,
    /// Valid slots and garbage slots at the time it was chosen; their ratio paces the copies. `credit` is the
    /// fraction of a copy that writes have already paid for.
    pub(super) valid: u32,
    pub(super) garbage: u32,
    pub(super) credit: u32,
    /// The program unit sensed last, and its die; its other slots need only a transfer.
    sensed: u32,
    die: usize,
    /// The mapping entries of slots before this one have been prefetched.
    pub(super) fetched: u32,
}

impl Victim {
    pub(super) fn new(layout: &Layout, superblock: u32, valid: u32) -> Self {
        let cursor = superblock * layout.superblock_slots();
        let end = cursor + layout.superblock_slots();
        let garbage = layout.superblock_slots() - valid;
        Self { superblock, cursor, end, valid, garbage, credit: 0, sensed: NONE, die: 0, fetched: 0 }
    }

    /// The next slot, valid or not; `None` at the end.
    pub(super) fn step(&mut self) -> Option<u32> {
        let slot = (self.cursor < self.end).then_some(self.cursor)?;
        self.cursor += 1;
        Some(slot)
    }

    /// Reads `slot`; returns when its data is available.
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
