//! The SLC cache (one bit per cell): it takes the host's writes while it has room, and is later folded into the
//! other flash.

use std::collections::VecDeque;

use super::superblocks::{SuperblockState, Superblocks};
use super::victim::Victim;
use crate::Model;
use crate::flash::Layout;

/// The superblocks of the cache; empty for a drive without a cache.
pub(super) struct SlcCache {
    pub(super) free: VecDeque<u32>,
    /// Full superblocks, oldest first.
    pub(super) sealed: VecDeque<u32>,
    pub(super) folding: Option<Victim>,
    superblocks: u32,
    /// Number of superblocks in use above which the cache is folded under load.
    fold_from: u32,
    /// Number of outstanding program operations below which the cache is folded under load; 0 for never.
    fold_below: u32,
}

impl SlcCache {
    pub(super) fn new(model: &Model, layout: &Layout) -> Self {
        let superblocks = layout.cache_superblocks();
        let cache = model.cache.as_ref();
        let from = |percent: f64| (f64::from(superblocks) * percent / 100.0) as u32;
        Self {
            free: Self::all(layout),
            sealed: VecDeque::new(),
            folding: None,
            superblocks,
            fold_from: cache.map_or(0, |cache| from(cache.fold_from_percent)),
            fold_below: cache.map_or(0, |cache| cache.fold_below_programs),
        }
    }

    pub(super) fn renew(&mut self, layout: &Layout) {
        (self.free, self.sealed, self.folding) = (Self::all(layout), VecDeque::new(), None);
    }

    fn all(layout: &Layout) -> VecDeque<u32> {
        (layout.superblocks()..layout.all_superblocks()).collect()
    }

    /// Returns whether the cache is ever folded under load.
    #[inline]
    pub(super) fn folds_under_load(&self) -> bool {
        self.fold_below > 0
    }

    /// Returns whether the cache should be folded now, given this number of outstanding program operations.
    #[inline]
    pub(super) fn should_fold(&self, outstanding: u32) -> bool {
        outstanding < self.fold_below && self.superblocks - self.free.len() as u32 > self.fold_from
    }

    /// Checks that the cache's lists contain exactly its superblocks.
    pub(super) fn check(&self, superblocks: &Superblocks) -> Result<(), String> {
        if superblocks.count(SuperblockState::CacheFree) != self.free.len()
            || superblocks.count(SuperblockState::Cache) != self.sealed.len()
            || superblocks.count(SuperblockState::Folding) != usize::from(self.folding.is_some())
        {
            return Err("the lists of the cache do not match its superblocks".to_owned());
        }
        Ok(())
    }
}
