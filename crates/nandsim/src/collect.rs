//! The garbage collector: greedy, paced by the host's writes, ahead of them in idle time.

use crate::plan::RESERVE;
use crate::ssd::{Ssd, Use};

/// A superblock that is being emptied.
#[derive(Debug, Clone)]
pub(crate) struct Victim {
    pub(crate) superblock: u32,
    /// Next slot to look at.
    cursor: u32,
    end: u32,
    /// Valid slots when it was chosen, and the rest: what the host may write for these copies.
    valid: u32,
    garbage: u32,
    credit: u32,
    /// Program unit that was sensed last; its other slots need only their transfer.
    sensed: Option<u32>,
}

impl Ssd {
    /// One map unit was written: copies in proportion, so that space is freed as fast as it is used.
    #[inline]
    pub(crate) fn pay_collector(&mut self) {
        if self.free.len() >= RESERVE as usize {
            return;
        }
        self.pay();
    }

    fn pay(&mut self) {
        if self.victim.is_none() && !self.choose_victim() {
            return;
        }
        let victim = self.victim.as_mut().expect("chosen above");
        victim.credit += victim.valid;
        let due = victim.credit / victim.garbage;
        victim.credit -= due * victim.garbage;
        self.owed += due;
        if victim.valid == 0 {
            self.owed += 1; // nothing to copy: the next step frees it
        }
        if self.owed >= self.plan.burst {
            for _ in 0..std::mem::take(&mut self.owed) {
                self.copy_next();
            }
        }
    }

    /// Frees one superblock at once, whatever it costs: the host is out of space.
    pub(crate) fn collect_now(&mut self) {
        self.owed = 0;
        assert!(self.victim.is_some() || self.choose_victim(), "garbage is left while space is short");
        while self.victim.is_some() {
            self.copy_next();
        }
    }

    /// One step of work ahead of the host; false when there is enough free space or no garbage.
    pub(crate) fn collect_ahead(&mut self) -> bool {
        let wanted = self.plan.idle_free_superblocks as usize;
        if self.free.len() >= wanted || (self.victim.is_none() && !self.choose_victim()) {
            return false;
        }
        self.copy_next();
        true
    }

    /// The sealed superblock with the fewest valid slots; false when none has garbage.
    fn choose_victim(&mut self) -> bool {
        // Two plain passes instead of one with a pair: the first runs on vectors.
        let counts = self.map.valid.iter().zip(&self.uses);
        let count = |(&valid, &used): (&u32, &Use)| if used == Use::Sealed { valid } else { u32::MAX };
        let valid = counts.clone().map(count).fold(u32::MAX, u32::min);
        if valid >= self.plan.superblock_slots {
            return false;
        }
        let found = counts.map(count).position(|n| n == valid);
        let superblock = found.expect("the least of these counts is one of them") as u32;
        self.uses[superblock as usize] = Use::Victim;
        let cursor = superblock * self.plan.superblock_slots;
        self.victim = Some(Victim {
            superblock,
            cursor,
            end: cursor + self.plan.superblock_slots,
            valid,
            garbage: self.plan.superblock_slots - valid,
            credit: 0,
            sensed: None,
        });
        true
    }

    /// Copies the victim's next valid slot, and frees the victim when that was the last.
    fn copy_next(&mut self) {
        let Some(victim) = self.victim.as_mut() else { return };
        if let Some(slot) = self.map.next_valid(victim.cursor, victim.end) {
            victim.cursor = slot + 1;
            let unit = slot >> self.plan.unit_shift;
            let again = victim.sensed.replace(unit) == Some(unit);
            let die = self.plan.die_of(slot);
            let read = if again {
                self.flash.read_again(die, self.now_ns)
            } else {
                self.flash.read(die, self.now_ns, 1, 0)
            };
            self.copy_to_open(slot, read);
        }
        let victim = self.victim.as_ref().expect("still there");
        if self.map.valid[victim.superblock as usize] == 0 {
            self.free_victim();
        }
    }

    fn copy_to_open(&mut self, slot: u32, ready_ns: u64) {
        if self.copies.next == self.copies.end {
            self.copies = self.open_next(self.copies);
        }
        self.map.relocate(slot, self.copies.next);
        self.copies.next += 1;
        self.copies.filled += 1;
        self.copies.ready_ns = self.copies.ready_ns.max(ready_ns);
        if self.copies.filled >> self.plan.unit_shift != 0 {
            let die = self.plan.die_of(self.copies.next - 1);
            self.flash.program(die, self.copies.ready_ns, 0, &mut self.events);
            self.health.nand_written_bytes += u64::from(self.copies.filled) << self.plan.map_unit_shift;
            self.copies.filled = 0;
        }
    }

    fn free_victim(&mut self) {
        let superblock = self.victim.take().expect("a victim to free").superblock;
        self.uses[superblock as usize] = Use::Free;
        self.free.push_back(superblock);
        self.health.erases += 1;
        for die in 0..self.plan.dies as usize {
            self.flash.erase(die, self.now_ns, &mut self.events);
        }
    }
}
