//! The SLC cache (one bit per cell): it takes the host's writes while it has room, and is folded into the other
//! flash later.

use std::collections::VecDeque;

use crate::collect::Victim;
use crate::plan::Plan;
use crate::ssd::{Ssd, SuperblockState};

/// The superblocks of the cache; empty for a drive without one.
pub(crate) struct Cache {
    pub(crate) free: VecDeque<u32>,
    /// Full superblocks, oldest first.
    pub(crate) sealed: VecDeque<u32>,
    pub(crate) folding: Option<Victim>,
}

impl Cache {
    pub(crate) fn new(plan: &Plan) -> Self {
        let all = plan.superblocks..plan.superblocks + plan.cache_superblocks;
        Self { free: all.collect(), sealed: VecDeque::new(), folding: None }
    }
}

impl Ssd {
    /// Under load: folds one program unit if enough of the cache is in use and few programs are outstanding.
    #[inline]
    pub(crate) fn fold_under_load(&mut self) {
        if self.flash.outstanding() < self.plan.fold_below
            && self.plan.cache_superblocks - self.cache.free.len() as u32 > self.plan.fold_from
        {
            for _ in 0..1 << self.plan.unit_shift {
                self.fold_next();
            }
        }
    }

    /// Folds the next valid slot of the oldest superblock of the cache. False if there is nothing to fold.
    pub(crate) fn fold_next(&mut self) -> bool {
        if self.cache.folding.is_none() {
            let Some(superblock) = self.cache.sealed.pop_front() else { return false };
            self.states[superblock as usize] = SuperblockState::Folding;
            let valid = self.map.valid[superblock as usize];
            self.cache.folding = Some(Victim::new(&self.plan, superblock, valid));
        }
        // The last free superblock and the open superblock for copies are reserved for the collector.
        self.make_room();
        let mut victim = self.cache.folding.take().expect("chosen above");
        let superblock = victim.superblock;
        if self.copy_some(&mut victim, 1) > 0 {
            self.pace_collector();
        }
        if self.map.valid[superblock as usize] == 0 {
            self.states[superblock as usize] = SuperblockState::CacheFree;
            self.cache.free.push_back(superblock);
            self.erase_superblock(superblock);
        } else {
            self.cache.folding = Some(victim);
        }
        true
    }
}
