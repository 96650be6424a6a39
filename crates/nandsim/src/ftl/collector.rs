//! The garbage collector, which is paced by the host's writes and works ahead of them in idle time.

use super::block_manager::BlockManager;
use super::superblocks::SuperblockState;
use super::victim::Victim;
use crate::defects::{Defect, Defects};

impl<D: Defects> BlockManager<D> {
    /// Called for each map unit written: copies a proportional number of map units, so that space is freed as
    /// fast as it is used.
    #[inline]
    pub(super) fn pace_collector(&mut self) {
        if self.superblocks.free.len() >= self.policy.collect_below as usize {
            return;
        }
        self.pay();
    }

    fn pay(&mut self) {
        if !self.may_collect() {
            return;
        }
        let (free, below) = (self.superblocks.free.len() as u32, self.policy.collect_below);
        let victim = self.victim.as_mut().expect("chosen above");
        // A ring keeps a pool of free superblocks and works harder as the pool shrinks, because its garbage
        // comes in bursts.
        let share = if self.policy.ring { victim.valid / below * 2 * (below - free) } else { victim.valid };
        victim.credit += share;
        let due = victim.credit / victim.garbage;
        victim.credit -= due * victim.garbage;
        self.owed += due;
        if victim.valid == 0 {
            self.owed += 1; // nothing to copy: the next step frees it
        }
        if self.owed >= self.policy.burst {
            let owed = std::mem::take(&mut self.owed);
            self.copy(owed);
        }
    }

    /// Empties one superblock immediately, regardless of how many copies that takes.
    pub(super) fn collect_superblock(&mut self) {
        self.copy(self.layout.superblock_slots() + 1);
        assert!(self.victim.is_none(), "a superblock has no valid slot left but is not empty");
    }

    /// Returns whether there is anything to collect; chooses a victim if necessary.
    pub(super) fn may_collect(&mut self) -> bool {
        self.victim.is_some() || self.choose_victim()
    }

    /// Performs one step ahead of the host's writes. Returns false if there is enough free space or no
    /// garbage.
    pub(super) fn collect_ahead(&mut self) -> bool {
        let target = self.policy.idle_free_superblocks as usize;
        if self.superblocks.free.len() >= target || !self.may_collect() {
            return false;
        }
        self.copy(1);
        true
    }

    /// Chooses the next victim according to the model's policy. Returns false if no superblock has garbage.
    fn choose_victim(&mut self) -> bool {
        let found = match self.policy.victim_window {
            None => self.fewest_valid(),
            Some(_) if self.policy.ring => self.next_of_ring(),
            Some(window) => self.fewest_valid_of_oldest(window as usize),
        };
        let Some(superblock) = found else { return false };
        let valid = self.map.valid_slots(superblock);
        self.superblocks.set(superblock, SuperblockState::Victim);
        let mut victim = Victim::new(&self.layout, superblock, valid);
        if self.policy.ring {
            // In ring order, some victims contain no garbage, so the pace depends on the share of valid data
            // across the whole drive.
            let slots = u64::from(self.layout.superblocks()) * u64::from(self.layout.superblock_slots());
            let garbage = slots.saturating_sub(self.map.mapped().into()).max(1) as u32;
            let shift = self.map.mapped().checked_ilog2().unwrap_or(0).saturating_sub(24);
            (victim.valid, victim.garbage) = (self.map.mapped() >> shift, (garbage >> shift).max(1));
        }
        self.victim = Some(victim);
        true
    }

    /// Returns the sealed superblock with the fewest valid slots.
    fn fewest_valid(&mut self) -> Option<u32> {
        let states = &self.superblocks.states;
        let (superblock, valid) =
            self.map.fewest_valid(|superblock| states[superblock] == SuperblockState::Sealed)?;
        (valid < self.layout.superblock_slots()).then_some(superblock as u32)
    }

    /// Returns a superblock without valid slots, if sequential overwrites have left one, because freeing it
    /// takes no copies; otherwise, returns the oldest superblock. A share of the superblocks without garbage is
    /// skipped, and moved to the end of the queue.
    fn next_of_ring(&mut self) -> Option<u32> {
        if let Some(empty) = self.empty_one() {
            let place = self.superblocks.sealed.iter().position(|&sealed| sealed == empty);
            return place.and_then(|place| self.superblocks.sealed.remove(place));
        }
        for _ in 0..self.superblocks.sealed.len() {
            let oldest = self.superblocks.sealed.pop_front()?;
            if self.map.valid_slots(oldest) < self.layout.superblock_slots() {
                return Some(oldest);
            }
            self.ring_credit += self.policy.ring_skips;
            if self.ring_credit < 1 << 16 {
                return Some(oldest);
            }
            self.ring_credit -= 1 << 16;
            self.superblocks.sealed.push_back(oldest);
        }
        self.superblocks.sealed.pop_front()
    }

    /// Returns a sealed superblock without valid slots.
    fn empty_one(&mut self) -> Option<u32> {
        self.fewest_valid().filter(|&superblock| self.map.valid_slots(superblock) == 0)
    }

    /// Returns the superblock with the fewest valid slots among the `window` oldest sealed ones that contain
    /// garbage.
    fn fewest_valid_of_oldest(&mut self, window: usize) -> Option<u32> {
        let valid = |superblock: u32| self.map.valid_slots(superblock);
        let with_garbage =
            |&(_, &superblock): &(usize, &u32)| valid(superblock) < self.layout.superblock_slots();
        let oldest = self.superblocks.sealed.iter().enumerate().filter(with_garbage).take(window);
        let (place, _) = oldest.min_by_key(|&(_, &superblock)| valid(superblock))?;
        self.superblocks.sealed.remove(place)
    }

    /// Copies up to `most` valid slots of the victim, and frees it if none are left.
    fn copy(&mut self, most: u32) {
        let Some(mut victim) = self.victim.take() else { return };
        let early = u32::from(self.defects.strikes(Defect::FreesTooEarly, self.timeline.now_ns));
        let mut left = most;
        while left > 0 {
            let valid = self.map.valid_slots(victim.superblock);
            let copied = if valid > early { self.copy_some(&mut victim, left.min(valid - early)) } else { 0 };
            if valid - copied <= early {
                self.free_superblock(victim.superblock);
                return;
            }
            if copied == 0 {
                break;
            }
            left -= copied;
        }
        self.victim = Some(victim);
    }

    /// Copies between one and `most` valid slots of `victim` and returns the number copied; 0 if none are
    /// valid.
    #[inline]
    pub(super) fn copy_some(&mut self, victim: &mut Victim, most: u32) -> u32 {
        let Some((word, valid)) = self.map.next_valid(victim.cursor, victim.end) else { return 0 };
        if word >= victim.fetched {
            victim.fetched = word + 64;
            self.map.fetch_slots(word, valid);
        }
        self.open_copies();
        let first = self.copies.next;
        let end = self.copies.end.min(first + most);
        let (mut left, mut to) = (valid, first);
        while left != 0 && to < end {
            let slot = word + left.trailing_zeros();
            left &= left - 1;
            let ready_ns = victim.read(slot, &mut self.flash, &self.layout, self.timeline.now_ns);
            self.map.move_entry(slot, to);
            to += 1;
            self.copied(to, ready_ns);
        }
        self.copies.next = to;
        victim.cursor = word + (63 - (valid ^ left).leading_zeros()) + 1;
        self.map.commit_moves((victim.superblock, word, valid ^ left), (first, to));
        to - first
    }

    /// Copies one slot.
    pub(super) fn copy_to_open(&mut self, slot: u32, ready_ns: u64) {
        self.open_copies();
        self.map.relocate(slot, self.copies.next);
        self.copies.next += 1;
        self.copied(self.copies.next, ready_ns);
    }

    #[inline]
    fn open_copies(&mut self) {
        if self.copies.next == self.copies.end {
            self.seal(self.copies);
            self.copies = self.superblocks.open_next();
        }
    }

    /// Accounts for the copy in the slot before `next`, whose data is available at `ready_ns`.
    #[inline(always)]
    fn copied(&mut self, next: u32, ready_ns: u64) {
        self.copies.filled += 1;
        self.copies.ready_ns = self.copies.ready_ns.max(ready_ns);
        if self.copies.filled >> self.layout.unit_shift() != 0 {
            let die = self.layout.die_of(next - 1);
            self.flash.program(die, self.copies.ready_ns, 0, &mut self.timeline.events);
            self.programmed_bytes += u64::from(self.copies.filled) << self.layout.map_unit_shift();
            self.copies.filled = 0;
        }
    }
}
