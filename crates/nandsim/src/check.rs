//! Invariants that must hold after any sequence of operations on a drive.

#[cfg(test)]
pub(crate) mod canary;
#[cfg(test)]
mod histories;

use crate::map::NONE;
use crate::ssd::{Ssd, SuperblockState};

impl Ssd {
    /// Checks that both directions of the mapping, the validity bits, the counts, the free list and the write
    /// buffer agree. Takes time proportional to the capacity.
    ///
    /// # Errors
    /// Reports which invariant is violated, and where.
    pub fn check(&self) -> Result<(), String> {
        self.check_map()?;
        self.check_superblocks()?;
        let held = u64::from(self.host.filled) + u64::from(self.log.open.filled) + self.flash.buffered();
        if u64::from(self.buffer_used) != held {
            return Err(format!("the buffer counts {} slots, but {held} are in it", self.buffer_used));
        }
        if self.buffer_used > self.plan.buffer_slots {
            return Err(format!("{} of {} buffer slots used", self.buffer_used, self.plan.buffer_slots));
        }
        if !self.flash.consistent() {
            return Err("a die's queue waits for nothing, or the count of operations is wrong".to_owned());
        }
        if !self.blocked.is_empty() {
            return Err(format!("{} writes wait although nothing runs", self.blocked.len()));
        }
        Ok(())
    }

    fn check_map(&self) -> Result<(), String> {
        let mut mapped = 0u64;
        for (unit, &slot) in self.map.l2p.iter().enumerate().filter(|&(_, &slot)| slot != NONE) {
            mapped += 1;
            let back = self.map.p2l[slot as usize];
            if back as usize != unit {
                return Err(format!("map unit {unit} is in slot {slot}, which holds {back}"));
            }
            if !self.map.is_valid(slot) {
                return Err(format!("map unit {unit} is in slot {slot}, which is garbage"));
            }
        }
        let counted: u64 = self.map.valid.iter().map(|&n| u64::from(n)).sum();
        if mapped != u64::from(self.map.mapped) {
            return Err(format!("{mapped} map units are mapped, but {} are counted", self.map.mapped));
        }
        if mapped != counted {
            return Err(format!("{mapped} map units are mapped, but {counted} slots count as valid"));
        }
        Ok(())
    }

    fn check_superblocks(&self) -> Result<(), String> {
        let size = self.plan.superblock_slots;
        for (superblock, &count) in self.map.valid.iter().enumerate() {
            let first = superblock as u32 * size;
            let bits = (first..first + size).filter(|&slot| self.map.is_valid(slot)).count();
            if bits != count as usize {
                return Err(format!("superblock {superblock} counts {count} valid slots, but has {bits}"));
            }
            if self.states[superblock] == SuperblockState::Sealed && !self.map.is_bounded(superblock) {
                return Err(format!("superblock {superblock} has fewer valid slots than its group can have"));
            }
            if matches!(self.states[superblock], SuperblockState::Free | SuperblockState::CacheFree)
                && count > 0
            {
                return Err(format!("superblock {superblock} is free, but has {count} valid slots"));
            }
        }
        let free = self.states.iter().filter(|&&used| used == SuperblockState::Free).count();
        let listed =
            self.free.iter().all(|&superblock| self.states[superblock as usize] == SuperblockState::Free);
        if free != self.free.len() || !listed {
            return Err(format!("{free} superblocks are free, {} are listed", self.free.len()));
        }
        let of = |wanted: SuperblockState| self.states.iter().filter(|&&used| used == wanted).count();
        let cache = &self.cache;
        if of(SuperblockState::CacheFree) != cache.free.len()
            || of(SuperblockState::Cache) != cache.sealed.len()
            || of(SuperblockState::Folding) != usize::from(cache.folding.is_some())
        {
            return Err("a list of the cache does not name its superblocks".to_owned());
        }
        if of(SuperblockState::Log) != self.log.sealed.len()
            || of(SuperblockState::Merging) != usize::from(self.log.merging.is_some())
        {
            return Err("the log does not name its superblocks".to_owned());
        }
        let open = [&self.host, &self.copies, &self.log.open].iter().filter(|open| open.end > 0).count();
        if of(SuperblockState::Open) != open
            || of(SuperblockState::Victim) != usize::from(self.victim.is_some())
        {
            return Err("the open superblocks or the victim are not marked as such".to_owned());
        }
        if self.wear.iter().map(|&erases| u64::from(erases)).sum::<u64>() != self.health.erases {
            return Err("the erases of the superblocks are not those of the health log".to_owned());
        }
        Ok(())
    }
}
