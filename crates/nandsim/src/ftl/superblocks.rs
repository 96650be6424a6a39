//! The superblocks: their current use, and how often they were erased.

use std::collections::VecDeque;

use crate::flash::Layout;

/// Current use of a superblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SuperblockState {
    Free,
    Open,
    Sealed,
    Victim,
    /// Full, in the cache.
    Cache,
    Folding,
    /// Full, in the log.
    Log,
    Merging,
    CacheFree,
}

/// A superblock that is being filled: slots before `next` are in use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OpenSuperblock {
    pub(super) next: u32,
    /// End of the superblock; equal to `next` if a new superblock is needed.
    pub(super) end: u32,
    /// Number of used slots in the program unit that has not yet been sent to a die.
    pub(super) filled: u32,
    /// Time at which all data of that unit has arrived.
    pub(super) ready_ns: u64,
}

impl OpenSuperblock {
    /// Returns whether `slot` belongs to the program unit that is being filled.
    #[inline]
    pub(super) fn is_filling(&self, slot: u32) -> bool {
        slot.wrapping_sub(self.next - self.filled) < self.filled
    }

    /// Skips the remaining slots of the program unit that is being filled.
    pub(super) fn skip_rest_of_unit(&mut self, unit_shift: u32) {
        self.next = (((self.next - 1) >> unit_shift) + 1) << unit_shift;
    }

    /// Discards the program unit that is being filled without writing it. Returns the number of buffer slots
    /// that the unit occupied.
    pub(super) fn abandon_unit(&mut self, unit_shift: u32) -> u32 {
        let filled = std::mem::take(&mut self.filled);
        if filled > 0 {
            self.skip_rest_of_unit(unit_shift);
        }
        filled
    }
}

/// All superblocks of a drive.
pub(super) struct Superblocks {
    pub(super) states: Vec<SuperblockState>,
    pub(super) free: VecDeque<u32>,
    /// The full superblocks, oldest first; empty if the victim policy does not depend on age.
    pub(super) sealed: VecDeque<u32>,
    /// Number of erases of each superblock since the drive was created.
    pub(super) erases: Vec<u32>,
    pub(super) erases_total: u64,
    slots: u32,
}

impl Superblocks {
    pub(super) fn new(layout: &Layout) -> Self {
        let mut states = vec![SuperblockState::Free; layout.superblocks() as usize];
        states.resize(layout.all_superblocks() as usize, SuperblockState::CacheFree);
        Self {
            erases: vec![0; states.len()],
            erases_total: 0,
            states,
            free: (0..layout.superblocks()).collect(),
            sealed: VecDeque::new(),
            slots: layout.superblock_slots(),
        }
    }

    /// Erases all superblocks.
    pub(super) fn renew(&mut self, layout: &Layout) {
        let (own, cached) = self.states.split_at_mut(layout.superblocks() as usize);
        own.fill(SuperblockState::Free);
        cached.fill(SuperblockState::CacheFree);
        self.free = (0..layout.superblocks()).collect();
        self.sealed = VecDeque::new();
        self.erases.iter_mut().for_each(|erases| *erases += 1);
        self.erases_total += self.erases.len() as u64;
    }

    pub(super) fn count_erase(&mut self, superblock: u32) {
        self.erases[superblock as usize] += 1;
        self.erases_total += 1;
    }

    #[inline]
    pub(super) fn set(&mut self, superblock: u32, state: SuperblockState) {
        self.states[superblock as usize] = state;
    }

    /// Opens `superblock` for data.
    pub(super) fn open(&mut self, superblock: u32) -> OpenSuperblock {
        self.set(superblock, SuperblockState::Open);
        let next = superblock * self.slots;
        OpenSuperblock { next, end: next + self.slots, filled: 0, ready_ns: 0 }
    }

    /// Opens the next free superblock.
    pub(super) fn open_next(&mut self) -> OpenSuperblock {
        let superblock = self.free.pop_front().expect("the collector keeps a superblock free");
        self.open(superblock)
    }

    /// Returns the superblock whose end `full` has reached; `None` if none has been opened.
    pub(super) fn filled_by(&self, full: OpenSuperblock) -> Option<u32> {
        (full.end > 0).then(|| full.end / self.slots - 1)
    }

    /// Returns the number of superblocks in `state`.
    pub(super) fn count(&self, state: SuperblockState) -> usize {
        self.states.iter().filter(|&&used| used == state).count()
    }
}
