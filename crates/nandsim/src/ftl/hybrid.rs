//! The hybrid translation layer: coarse granules, with a log of single map units in front of them.
//!
//! Data is stored in granules of several map units, which are written as a whole. A write that covers a whole
//! granule bypasses the log. A smaller write goes to the log as long as there is erased flash that the granules
//! do not need. On a full drive, there is no such flash, so the granule is read, modified and rewritten. Once
//! the log has reached its limit, its oldest superblock is swept as fast as the newest one fills: each granule
//! found in it is merged, including the granule's units elsewhere in the log.

use std::collections::VecDeque;
use std::ops::Range;

use super::block_manager::BlockManager;
use super::host_write::HostWrite;
use super::layer::Ftl;
use super::placement::{make_room, place};
use super::superblocks::{OpenSuperblock, SuperblockState, Superblocks};
use super::victim::Victim;
use crate::flash::{Layout, NONE, RESERVE};
use crate::timeline::ns;
use crate::{Defects, Model, Scale, model};

/// The log of single map units.
#[derive(Default)]
struct Log {
    open: OpenSuperblock,
    /// Full superblocks, oldest first.
    sealed: VecDeque<u32>,
    merging: Option<Victim>,
    /// Time at which the controller finishes its merges and read-modify-writes.
    busy_ns: u64,
}

impl Log {
    /// Returns the number of superblocks in use.
    fn used(&self) -> u32 {
        self.sealed.len() as u32 + u32::from(self.open.end > 0) + u32::from(self.merging.is_some())
    }

    /// Checks that the log's lists contain exactly its superblocks.
    fn check(&self, superblocks: &Superblocks) -> Result<(), String> {
        if superblocks.count(SuperblockState::Log) != self.sealed.len()
            || superblocks.count(SuperblockState::Merging) != usize::from(self.merging.is_some())
        {
            return Err("the lists of the log do not match its superblocks".to_owned());
        }
        Ok(())
    }
}

/// Sizes and times of granules.
struct Granules {
    /// Map units per granule, as a shift.
    shift: u32,
    /// Maximum number of superblocks in the log.
    most_log: u32,
    /// Slots reserved per mapped unit, including its share of the spare flash, in 1/65,536.
    kept_slots: u64,
    modify_ns: u64,
    merge_ns: u64,
}

impl Granules {
    fn new(model: &Model, hybrid: &model::Hybrid, scale: Scale, layout: &Layout) -> Self {
        let geometry = &model.geometry;
        // The amount of data on the unscaled drive to which one superblock corresponds.
        let superblock_bytes = u64::from(scale.divisor()) * layout.superblock_bytes();
        Self {
            shift: (hybrid.granule_bytes / geometry.map_unit_bytes).trailing_zeros(),
            most_log: (hybrid.log_bytes / superblock_bytes) as u32,
            kept_slots: (65_536.0 * (1.0 + geometry.effective_op_percent / 100.0)).ceil() as u64,
            modify_ns: ns(hybrid.modify_us),
            merge_ns: ns(hybrid.merge_us),
        }
    }
}

/// The hybrid layer: granules and their log.
pub(super) struct Hybrid {
    granules: Granules,
    log: Log,
}

impl Hybrid {
    pub(super) fn new(model: &Model, hybrid: &model::Hybrid, scale: Scale, layout: &Layout) -> Self {
        Self { granules: Granules::new(model, hybrid, scale, layout), log: Log::default() }
    }

    /// Returns the maximum number of superblocks in the log, given the current number of mapped map units.
    fn log_limit<D>(&self, blocks: &BlockManager<D>) -> u32 {
        let slots = (u64::from(blocks.map.mapped()) * self.granules.kept_slots) >> 16;
        let kept = slots.div_ceil(u64::from(blocks.layout.superblock_slots())) as u32 + RESERVE;
        blocks.layout.superblocks().saturating_sub(kept).min(self.granules.most_log)
    }

    /// Returns the map units of the granule that contains `unit`.
    fn granule_of<D>(&self, blocks: &BlockManager<D>, unit: u32) -> Range<u32> {
        let first = unit >> self.granules.shift << self.granules.shift;
        first..(first + (1 << self.granules.shift)).min(blocks.layout.map_units())
    }

    /// Returns whether `slot` contains data that can be read from the flash.
    fn is_on_flash<D: Defects>(&self, blocks: &BlockManager<D>, slot: u32) -> bool {
        slot != NONE && !self.is_buffered(blocks, slot)
    }

    /// Places a map unit in the host's open superblock, unless it is already in an open program unit.
    fn place_once<D: Defects>(&mut self, blocks: &mut BlockManager<D>, unit: u32, ready_ns: u64) {
        if !self.is_buffered(blocks, blocks.map.slot_of(unit)) {
            place(self, blocks, unit, ready_ns);
        }
    }

    /// Reads the remainder of a granule and rewrites all of it. Returns the time at which the controller is
    /// done.
    fn modify_granule<D: Defects>(
        &mut self,
        blocks: &mut BlockManager<D>,
        written: Range<u32>,
        start_ns: u64,
    ) -> u64 {
        let granule = self.granule_of(blocks, written.start);
        if !granule.clone().any(|unit| self.is_on_flash(blocks, blocks.map.slot_of(unit))) {
            // There is nothing to read: the granule is new or still in the buffer.
            written.for_each(|unit| self.place_once(blocks, unit, start_ns));
            return start_ns;
        }
        let mut read_ns = start_ns;
        let mut sensed = NONE;
        for unit in granule.clone() {
            let slot = blocks.map.slot_of(unit);
            if self.is_on_flash(blocks, slot) {
                read_ns = read_ns.max(read_slot(blocks, slot, start_ns, &mut sensed));
            }
        }
        for unit in granule {
            if written.contains(&unit) || blocks.map.slot_of(unit) != NONE {
                self.place_once(blocks, unit, read_ns);
            }
        }
        self.log.busy_ns = self.log.busy_ns.max(start_ns) + self.granules.modify_ns;
        self.log.busy_ns.max(read_ns)
    }

    /// Makes room in the log for `units` map units, if necessary and possible; returns whether there is room.
    fn log_takes<D: Defects>(&mut self, blocks: &mut BlockManager<D>, units: u32) -> bool {
        let limit = self.log_limit(blocks);
        if limit < 2 {
            return false;
        }
        if self.log.open.end - self.log.open.next >= units {
            return true;
        }
        while self.log.used() >= limit && self.sweep_log(blocks) {}
        self.log.used() < limit && blocks.superblocks.free.len() > RESERVE as usize
    }

    fn write_to_log<D: Defects>(
        &mut self,
        blocks: &mut BlockManager<D>,
        units: Range<u32>,
        (head, tail): (bool, bool),
        start_ns: u64,
    ) -> u64 {
        let mut all_ns = start_ns;
        let last = units.end - 1;
        for unit in units.clone() {
            let old = blocks.map.slot_of(unit);
            if self.is_buffered(blocks, old) {
                continue;
            }
            let partial = (head && unit == units.start) || (tail && unit == last);
            let mut ready_ns = start_ns;
            if partial && old != NONE {
                ready_ns = read_slot(blocks, old, start_ns, &mut NONE.clone());
                all_ns = all_ns.max(ready_ns);
            }
            self.place_in_log(blocks, unit, ready_ns);
            // Once the log has reached its limit, one slot in its oldest superblock is swept for each slot written.
            let full = self.log.used() >= self.log_limit(blocks);
            if full && self.sweep_log(blocks) {
                all_ns = all_ns.max(self.log.busy_ns);
            }
        }
        all_ns
    }

    fn place_in_log<D: Defects>(&mut self, blocks: &mut BlockManager<D>, unit: u32, ready_ns: u64) {
        if self.log.open.filled >> blocks.layout.unit_shift() != 0 {
            self.send_log_unit(blocks);
        }
        if self.log.open.next == self.log.open.end {
            if let Some(full) = blocks.superblocks.filled_by(self.log.open) {
                blocks.superblocks.set(full, SuperblockState::Log);
                self.log.sealed.push_back(full);
            }
            self.log.open = blocks.superblocks.open_next();
        }
        let open = &mut self.log.open;
        blocks.map.map(unit, open.next);
        open.next += 1;
        open.filled += 1;
        open.ready_ns = open.ready_ns.max(ready_ns);
        blocks.buffer_used += 1;
        blocks.pace_collector();
    }

    /// Sends the log's partial program unit to its die.
    fn send_log_unit<D: Defects>(&mut self, blocks: &mut BlockManager<D>) {
        blocks.send_unit(self.log.open, false);
        self.log.open.filled = 0;
    }

    /// Examines the next slot in the log's oldest superblock and merges its granule. Returns false if the log
    /// has no full superblock.
    fn sweep_log<D: Defects>(&mut self, blocks: &mut BlockManager<D>) -> bool {
        if self.log.merging.is_none() {
            let Some(superblock) = self.log.sealed.pop_front() else { return false };
            blocks.superblocks.set(superblock, SuperblockState::Merging);
            let valid = blocks.map.valid_slots(superblock);
            self.log.merging = Some(Victim::new(&blocks.layout, superblock, valid));
        }
        // The last free superblock is reserved for the collector.
        if blocks.may_collect() {
            make_room(self, blocks);
        }
        let victim = self.log.merging.as_mut().expect("chosen above");
        let (superblock, slot) = (victim.superblock, victim.step());
        if let Some(slot) = slot.filter(|&slot| blocks.map.is_valid(slot)) {
            self.merge(blocks, blocks.map.unit_in(slot));
        }
        if slot.is_none() || blocks.map.valid_slots(superblock) == 0 {
            self.log.merging = None;
            blocks.free_superblock(superblock);
        }
        true
    }

    /// Sweeps in idle time until one more granule has been merged. Returns false if the log has nothing left to
    /// sweep.
    fn merge_ahead<D: Defects>(&mut self, blocks: &mut BlockManager<D>) -> bool {
        let merged_ns = self.log.busy_ns;
        while self.log.busy_ns == merged_ns {
            if !self.sweep_log(blocks) {
                return false;
            }
        }
        true
    }

    /// Moves the units of `unit`'s granule that are on flash to the collector's open superblock.
    fn merge<D: Defects>(&mut self, blocks: &mut BlockManager<D>, unit: u32) {
        let now_ns = blocks.timeline.now_ns;
        let mut sensed = NONE;
        for unit in self.granule_of(blocks, unit) {
            let slot = blocks.map.slot_of(unit);
            if self.is_on_flash(blocks, slot) {
                let read_ns = read_slot(blocks, slot, now_ns, &mut sensed);
                blocks.copy_to_open(slot, read_ns);
            }
        }
        self.log.busy_ns = self.log.busy_ns.max(now_ns) + self.granules.merge_ns.max(1);
    }
}

/// Reads one slot; adjacent slots in one program unit are sensed only once.
fn read_slot<D>(blocks: &mut BlockManager<D>, slot: u32, at_ns: u64, sensed: &mut u32) -> u64 {
    let unit = slot >> blocks.layout.unit_shift();
    let die = blocks.layout.die_of(slot);
    if std::mem::replace(sensed, unit) == unit {
        return blocks.flash.read_again(die, at_ns);
    }
    let range = blocks.flash.range(slot, 1);
    blocks.flash.read(die, at_ns, range)
}

impl<D: Defects> Ftl<D> for Hybrid {
    /// Accepts a write, granule by granule.
    fn admit(&mut self, blocks: &mut BlockManager<D>, write: &mut HostWrite) -> bool {
        let start_ns = write.ready_ns;
        let size = 1 << self.granules.shift;
        while write.next_unit < write.end_unit {
            if blocks.policy.buffer_slots - blocks.buffer_used < size {
                return false;
            }
            let first = write.next_unit & !(size - 1);
            let end = (first + size).min(write.end_unit);
            let (units, last) = (write.next_unit..end, end == write.end_unit);
            let partial = (write.partial_head, last && write.partial_tail);
            let whole = units.len() == size as usize && partial == (false, false);
            let ready_ns = if whole {
                units.for_each(|unit| self.place_once(blocks, unit, start_ns));
                start_ns
            } else if self.log_takes(blocks, units.len() as u32) {
                self.write_to_log(blocks, units, partial, start_ns)
            } else {
                self.modify_granule(blocks, units, start_ns)
            };
            write.ready_ns = write.ready_ns.max(ready_ns);
            (write.next_unit, write.partial_head) = (end, false);
            if self.log.used() > self.log_limit(blocks) {
                self.sweep_log(blocks);
                self.sweep_log(blocks);
            }
        }
        true
    }

    #[inline]
    fn is_buffered(&self, blocks: &BlockManager<D>, slot: u32) -> bool {
        blocks.host.is_filling(slot) || self.log.open.is_filling(slot)
    }

    fn open_host_superblock(&mut self, blocks: &mut BlockManager<D>) {
        make_room(self, blocks);
        blocks.seal(blocks.host);
        blocks.host = blocks.superblocks.open_next();
    }

    fn reclaim(&mut self, blocks: &mut BlockManager<D>) -> bool {
        self.sweep_log(blocks)
    }

    fn work_ahead(&mut self, blocks: &mut BlockManager<D>) -> bool {
        blocks.collect_ahead() || self.merge_ahead(blocks)
    }

    fn flush(&mut self, blocks: &mut BlockManager<D>) -> u32 {
        if self.log.open.filled == 0 {
            return 0;
        }
        let before = self.log.open.next;
        self.send_log_unit(blocks);
        self.log.open.skip_rest_of_unit(blocks.layout.unit_shift());
        self.log.open.next - before
    }

    fn renew(&mut self, _: &BlockManager<D>) {
        self.log = Log::default();
    }

    fn open_log(&self) -> OpenSuperblock {
        self.log.open
    }

    fn open_log_mut(&mut self) -> Option<&mut OpenSuperblock> {
        Some(&mut self.log.open)
    }

    fn busy_ns(&self) -> u64 {
        self.log.busy_ns
    }

    fn check(&self, blocks: &BlockManager<D>) -> Result<(), String> {
        self.log.check(&blocks.superblocks)
    }
}
