//! The page-mapped translation layer: each map unit goes to the next free slot, through an SLC cache if there is
//! one.

use super::block_manager::BlockManager;
use super::host_write::HostWrite;
use super::layer::Ftl;
use super::placement::{make_room, place};
use super::slc_cache::SlcCache;
use super::superblocks::{OpenSuperblock, SuperblockState};
use super::victim::Victim;
use crate::flash::{Layout, NONE};
use crate::{Defects, Model};

/// Prefetch distance for validity bits, in map units.
const UNITS_AHEAD: u32 = 8;

/// The page-mapped layer, with or without an SLC cache.
pub(super) struct PageMapped {
    cache: SlcCache,
}

impl PageMapped {
    pub(super) fn new(model: &Model, layout: &Layout) -> Self {
        Self { cache: SlcCache::new(model, layout) }
    }

    /// Marks a full superblock as sealed.
    fn seal<D: Defects>(&mut self, blocks: &mut BlockManager<D>, full: OpenSuperblock) {
        match blocks.superblocks.filled_by(full) {
            Some(superblock) if superblock >= blocks.layout.superblocks() => {
                blocks.superblocks.set(superblock, SuperblockState::Cache);
                blocks.map.counts_now(superblock);
                self.cache.sealed.push_back(superblock);
            }
            _ => blocks.seal(full),
        }
    }

    /// Folds the next valid slot in the cache's oldest superblock. Returns false if there is nothing to fold.
    fn fold_next<D: Defects>(&mut self, blocks: &mut BlockManager<D>) -> bool {
        if self.cache.folding.is_none() {
            let Some(superblock) = self.cache.sealed.pop_front() else { return false };
            blocks.superblocks.set(superblock, SuperblockState::Folding);
            let valid = blocks.map.valid_slots(superblock);
            self.cache.folding = Some(Victim::new(&blocks.layout, superblock, valid));
        }
        // The last free superblock and the open superblock for copies are reserved for the collector.
        make_room(self, blocks);
        let mut victim = self.cache.folding.take().expect("chosen above");
        let superblock = victim.superblock;
        if blocks.copy_some(&mut victim, 1) > 0 {
            blocks.pace_collector();
        }
        if blocks.map.valid_slots(superblock) == 0 {
            blocks.superblocks.set(superblock, SuperblockState::CacheFree);
            self.cache.free.push_back(superblock);
            blocks.erase_superblock(superblock);
        } else {
            self.cache.folding = Some(victim);
        }
        true
    }
}

impl<D: Defects> Ftl<D> for PageMapped {
    #[inline]
    fn admit(&mut self, blocks: &mut BlockManager<D>, write: &mut HostWrite) -> bool {
        let start_ns = write.ready_ns;
        while write.next_unit < write.end_unit {
            let unit = write.next_unit;
            if unit + UNITS_AHEAD < write.end_unit {
                blocks.map.fetch_bits([unit + UNITS_AHEAD].into_iter());
            }
            let tail = unit + 1 == write.end_unit;
            let partial = write.partial_head || (tail && write.partial_tail);
            let old = blocks.map.slot_of(unit);
            if !self.is_buffered(blocks, old) {
                if blocks.buffer_used == blocks.policy.buffer_slots {
                    return false;
                }
                let mut ready_ns = start_ns;
                if partial && old != NONE {
                    let range = blocks.flash.range(old, 1).longer(blocks.policy.modify_ns);
                    ready_ns = blocks.flash.read(blocks.layout.die_of(old), start_ns, range);
                    if !blocks.policy.modify_in_background {
                        write.ready_ns = write.ready_ns.max(ready_ns);
                    }
                }
                place(self, blocks, unit, ready_ns);
            }
            write.partial_head = false;
            write.next_unit += 1;
        }
        true
    }

    #[inline]
    fn is_buffered(&self, blocks: &BlockManager<D>, slot: u32) -> bool {
        blocks.host.is_filling(slot)
    }

    fn open_host_superblock(&mut self, blocks: &mut BlockManager<D>) {
        let cached = self.cache.free.pop_front();
        if cached.is_none() {
            make_room(self, blocks);
        }
        self.seal(blocks, blocks.host);
        blocks.host = match cached {
            Some(superblock) => blocks.superblocks.open(superblock),
            None => blocks.superblocks.open_next(),
        };
    }

    #[inline]
    fn work_under_load(&mut self, blocks: &mut BlockManager<D>) {
        if self.cache.folds_under_load() && self.cache.should_fold(blocks.flash.outstanding()) {
            for _ in 0..1 << blocks.layout.unit_shift() {
                self.fold_next(blocks);
            }
        }
    }

    fn work_ahead(&mut self, blocks: &mut BlockManager<D>) -> bool {
        blocks.collect_ahead() || self.fold_next(blocks)
    }

    fn renew(&mut self, blocks: &BlockManager<D>) {
        self.cache.renew(&blocks.layout);
    }

    fn check(&self, blocks: &BlockManager<D>) -> Result<(), String> {
        self.cache.check(&blocks.superblocks)
    }
}
