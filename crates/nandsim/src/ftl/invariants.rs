//! Invariants of the superblocks and the write buffer, which must hold after any sequence of operations.

use super::block_manager::BlockManager;
use super::superblocks::{OpenSuperblock, SuperblockState};

impl<D> BlockManager<D> {
    /// Checks the state that all translation layers share; `log` is the superblock for small writes.
    pub(super) fn check(&self, log: OpenSuperblock) -> Result<(), String> {
        self.map.check(self.layout.superblock_slots())?;
        self.check_states(log)?;
        let held = u64::from(self.host.filled) + u64::from(log.filled) + self.flash.buffered();
        if u64::from(self.buffer_used) != held {
            return Err(format!("the buffer counts {} slots, but {held} are in it", self.buffer_used));
        }
        if self.buffer_used > self.policy.buffer_slots {
            return Err(format!("{} of {} buffer slots used", self.buffer_used, self.policy.buffer_slots));
        }
        if !self.flash.consistent() {
            return Err("an operation waits on an idle die, or the count of operations is wrong".to_owned());
        }
        Ok(())
    }

    fn check_states(&self, log: OpenSuperblock) -> Result<(), String> {
        let superblocks = &self.superblocks;
        for (superblock, &state) in (0..).zip(&superblocks.states) {
            let count = self.map.valid_slots(superblock);
            if state == SuperblockState::Sealed && !self.map.is_bounded(superblock) {
                return Err(format!(
                    "superblock {superblock} has fewer valid slots than the lower bound of \
                                    its group"
                ));
            }
            if matches!(state, SuperblockState::Free | SuperblockState::CacheFree) && count > 0 {
                return Err(format!("superblock {superblock} is free, but has {count} valid slots"));
            }
        }
        let free = superblocks.count(SuperblockState::Free);
        let is_free = |&superblock: &u32| superblocks.states[superblock as usize] == SuperblockState::Free;
        if free != superblocks.free.len() || !superblocks.free.iter().all(is_free) {
            return Err(format!("{free} superblocks are free, but {} are listed", superblocks.free.len()));
        }
        let open = [self.host, self.copies, log].iter().filter(|open| open.end > 0).count();
        if superblocks.count(SuperblockState::Open) != open
            || superblocks.count(SuperblockState::Victim) != usize::from(self.victim.is_some())
        {
            return Err("the open superblocks or the victim are not marked as such".to_owned());
        }
        let erases = superblocks.erases.iter().map(|&erases| u64::from(erases)).sum::<u64>();
        if erases != superblocks.erases_total {
            return Err("the erase counts of the superblocks do not match the health log".to_owned());
        }
        Ok(())
    }
}
