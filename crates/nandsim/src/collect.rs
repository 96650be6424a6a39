//! The garbage collector: paced by the host's writes, working ahead of them in idle time.

use crate::flash::{Flash, ReadRange};
use crate::map::NONE;
use crate::plan::Plan;
use crate::ssd::{Ssd, SuperblockState};

/// A superblock that is being emptied.
#[derive(Debug, Clone)]
pub(crate) struct Victim {
    pub(crate) superblock: u32,
    /// Next slot to examine.
    cursor: u32,
    end: u32,
    /// Valid slots and garbage slots when it was chosen; their ratio paces the copies. `credit` is the fraction of
    /// a copy already paid for.
    valid: u32,
    garbage: u32,
    credit: u32,
    /// The program unit sensed last, and its die; its other slots need only a transfer.
    sensed: u32,
    die: usize,
    /// The mapping entries of slots before this one have been prefetched.
    fetched: u32,
}

impl Victim {
    pub(crate) fn new(plan: &Plan, superblock: u32, valid: u32) -> Self {
        let cursor = superblock * plan.superblock_slots;
        let end = cursor + plan.superblock_slots;
        let garbage = plan.superblock_slots - valid;
        Self { superblock, cursor, end, valid, garbage, credit: 0, sensed: NONE, die: 0, fetched: 0 }
    }

    /// The next slot, valid or not; `None` at the end.
    pub(crate) fn step(&mut self) -> Option<u32> {
        let slot = (self.cursor < self.end).then_some(self.cursor)?;
        self.cursor += 1;
        Some(slot)
    }

    /// Reads `slot`; returns when its data is available.
    #[inline]
    fn read(&mut self, slot: u32, flash: &mut Flash, plan: &Plan, now_ns: u64) -> u64 {
        let unit = slot >> plan.unit_shift;
        if unit == self.sensed {
            return flash.read_again(self.die, now_ns);
        }
        (self.sensed, self.die) = (unit, plan.die_of(slot));
        flash.read(self.die, now_ns, ReadRange { unit, slots: 1, sense_ns: plan.sense_ns(slot) })
    }
}

impl Ssd {
    /// Called for each map unit written: copies a proportional number, so that space is freed as fast as it is
    /// used.
    #[inline]
    pub(crate) fn pace_collector(&mut self) {
        if self.free.len() >= self.plan.collect_below as usize {
            return;
        }
        self.pay();
    }

    fn pay(&mut self) {
        if !self.may_collect() {
            return;
        }
        let (free, below) = (self.free.len() as u32, self.plan.collect_below);
        let victim = self.victim.as_mut().expect("chosen above");
        // A ring keeps a pool of free superblocks and works harder as it shrinks, because its garbage comes in
        // bursts.
        let share = if self.plan.ring { victim.valid / below * 2 * (below - free) } else { victim.valid };
        victim.credit += share;
        let due = victim.credit / victim.garbage;
        victim.credit -= due * victim.garbage;
        self.owed += due;
        if victim.valid == 0 {
            self.owed += 1; // no copies needed; the next step frees it
        }
        if self.owed >= self.plan.burst {
            let owed = std::mem::take(&mut self.owed);
            self.copy(owed);
        }
    }

    /// Frees one superblock immediately, at any cost: the host is out of space.
    pub(crate) fn collect_now(&mut self) {
        self.owed = 0;
        if !self.may_collect() {
            assert!(self.sweep_log(), "garbage is left while space is short");
            return;
        }
        self.copy(self.plan.superblock_slots + 1);
        assert!(self.victim.is_none(), "a superblock has no valid slot left and is not empty");
    }

    /// Collects until more than one superblock is free; the last free one is reserved for the collector.
    pub(crate) fn make_room(&mut self) {
        // A ring may make one full turn without finding garbage, and another while the copies fill up.
        for _ in 0..4 * self.plan.superblocks {
            if self.free.len() >= 2 {
                return;
            }
            self.collect_now();
        }
        panic!("space is short although garbage is left");
    }

    /// Whether there is anything to collect; chooses a victim if necessary.
    pub(crate) fn may_collect(&mut self) -> bool {
        self.victim.is_some() || self.choose_victim()
    }

    /// One step of work ahead of the host. False if there is enough free space or no garbage.
    pub(crate) fn collect_ahead(&mut self) -> bool {
        let wanted = self.plan.idle_free_superblocks as usize;
        if self.free.len() >= wanted || !self.may_collect() {
            return false;
        }
        self.copy(1);
        true
    }

    /// Chooses the next victim by the model's policy. False if no superblock has garbage.
    fn choose_victim(&mut self) -> bool {
        let found = match self.plan.victim_window {
            None => self.fewest_valid(),
            Some(_) if self.plan.ring => self.next_of_ring(),
            Some(window) => self.fewest_valid_of_oldest(window as usize),
        };
        let Some(superblock) = found else { return false };
        let valid = self.map.valid[superblock as usize];
        self.states[superblock as usize] = SuperblockState::Victim;
        let mut victim = Victim::new(&self.plan, superblock, valid);
        if self.plan.ring {
            // Some superblocks of a ring have no garbage, so the pace follows the share of valid data on the whole
            // drive.
            let slots = u64::from(self.plan.superblocks) * u64::from(self.plan.superblock_slots);
            let garbage = slots.saturating_sub(self.map.mapped.into()).max(1) as u32;
            let shift = self.map.mapped.checked_ilog2().unwrap_or(0).saturating_sub(24);
            (victim.valid, victim.garbage) = (self.map.mapped >> shift, (garbage >> shift).max(1));
        }
        self.victim = Some(victim);
        true
    }

    /// The sealed superblock with the fewest valid slots.
    fn fewest_valid(&mut self) -> Option<u32> {
        let states = &self.states;
        let (superblock, valid) =
            self.map.fewest_valid(|superblock| states[superblock] == SuperblockState::Sealed)?;
        (valid < self.plan.superblock_slots).then_some(superblock as u32)
    }

    /// The oldest superblock. If it has no garbage, one without valid slots is preferred, as sequential writes of
    /// several streams leave them; otherwise a share of those without garbage is skipped and moved to the end of the
    /// queue.
    fn next_of_ring(&mut self) -> Option<u32> {
        for _ in 0..self.sealed.len() {
            let oldest = self.sealed.pop_front()?;
            if self.map.valid[oldest as usize] < self.plan.superblock_slots {
                return Some(oldest);
            }
            if let Some(empty) = self.empty_one() {
                self.sealed.push_front(oldest);
                self.sealed.retain(|&sealed| sealed != empty);
                return Some(empty);
            }
            self.ring_saved += self.plan.ring_skips;
            if self.ring_saved < 1 << 16 {
                return Some(oldest);
            }
            self.ring_saved -= 1 << 16;
            self.sealed.push_back(oldest);
        }
        self.sealed.pop_front()
    }

    /// A sealed superblock without valid slots.
    fn empty_one(&mut self) -> Option<u32> {
        self.fewest_valid().filter(|&superblock| self.map.valid[superblock as usize] == 0)
    }

    /// The superblock with the fewest valid slots among the `window` oldest sealed ones with garbage.
    fn fewest_valid_of_oldest(&mut self, window: usize) -> Option<u32> {
        let valid = |superblock: u32| self.map.valid[superblock as usize];
        let with_garbage = |&(_, &superblock): &(usize, &u32)| valid(superblock) < self.plan.superblock_slots;
        let oldest = self.sealed.iter().enumerate().filter(with_garbage).take(window);
        let (place, _) = oldest.min_by_key(|&(_, &superblock)| valid(superblock))?;
        self.sealed.remove(place)
    }

    /// Copies up to `most` valid slots of the victim, and frees it once none is left.
    fn copy(&mut self, most: u32) {
        let Some(mut victim) = self.victim.take() else { return };
        #[cfg(test)]
        let early = u32::from(self.errs(crate::check::canary::Bug::FreesTooEarly, self.now_ns));
        #[cfg(not(test))]
        let early = 0;
        let mut left = most;
        while left > 0 {
            let valid = self.map.valid[victim.superblock as usize];
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

    /// Copies between one and `most` valid slots of `victim` and returns the number copied; 0 if none is valid.
    #[inline]
    pub(crate) fn copy_some(&mut self, victim: &mut Victim, most: u32) -> u32 {
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
            let ready_ns = victim.read(slot, &mut self.flash, &self.plan, self.now_ns);
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
    pub(crate) fn copy_to_open(&mut self, slot: u32, ready_ns: u64) {
        self.open_copies();
        self.map.relocate(slot, self.copies.next);
        self.copies.next += 1;
        self.copied(self.copies.next, ready_ns);
    }

    #[inline]
    fn open_copies(&mut self) {
        if self.copies.next == self.copies.end {
            self.seal(self.copies);
            self.copies = self.open_next();
        }
    }

    /// Accounts for the copy in the slot before `next`, whose data is available at `ready_ns`.
    #[inline(always)]
    fn copied(&mut self, next: u32, ready_ns: u64) {
        self.copies.filled += 1;
        self.copies.ready_ns = self.copies.ready_ns.max(ready_ns);
        if self.copies.filled >> self.plan.unit_shift != 0 {
            let die = self.plan.die_of(next - 1);
            self.flash.program(die, self.copies.ready_ns, 0, &mut self.events);
            self.health.nand_written_bytes += u64::from(self.copies.filled) << self.plan.map_unit_shift;
            self.copies.filled = 0;
        }
    }

    fn free_superblock(&mut self, superblock: u32) {
        self.states[superblock as usize] = SuperblockState::Free;
        self.free.push_back(superblock);
        self.erase_superblock(superblock);
    }

    /// Queues the erases of one superblock on every die.
    pub(crate) fn erase_superblock(&mut self, superblock: u32) {
        self.health.erases += 1;
        self.wear[superblock as usize] += 1;
        for die in 0..self.plan.dies as usize {
            self.flash.erase(die, self.now_ns, &mut self.events);
        }
    }
}
