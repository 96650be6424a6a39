//! The hybrid translation layer: coarse granules, with a log of single map units in front.
//!
//! Data is stored in granules of several map units that are written as a whole. A write that covers a granule
//! bypasses the log. A smaller one goes to the log as long as there is erased flash that the granules do not need;
//! on a full drive there is none, and the granule is read, modified and rewritten. Once the log may not grow, its
//! oldest superblock is swept as fast as the newest one fills: each granule found there is merged, including its
//! units elsewhere in the log.

use std::collections::VecDeque;

use crate::collect::Victim;
use crate::flash::{NOBODY, ReadRange};
use crate::map::NONE;
use crate::plan::{Plan, RESERVE};
use crate::ssd::{Ssd, SuperblockState};
use crate::write::{Open, Pending};
use crate::write_through::Through;

/// The log; empty for a drive without granules.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) open: Open,
    /// Full superblocks, oldest first.
    pub(crate) sealed: VecDeque<u32>,
    pub(crate) merging: Option<Victim>,
    /// Time at which the controller finishes its merges and read-modify-writes.
    pub(crate) busy_ns: u64,
}

impl Log {
    /// Number of superblocks in use.
    pub(crate) fn used(&self) -> u32 {
        self.sealed.len() as u32 + u32::from(self.open.end > 0) + u32::from(self.merging.is_some())
    }

    /// Whether `slot` belongs to the program unit that is being filled.
    #[inline]
    pub(crate) fn in_buffer(&self, slot: u32) -> bool {
        slot.wrapping_sub(self.open.next - self.open.filled) < self.open.filled
    }
}

/// Sizes and times of a drive with granules; the shift is 0 on a drive without them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Granules {
    /// Map units per granule, as a shift.
    pub(crate) shift: u32,
    /// Maximum superblocks of the log.
    pub(crate) most_log: u32,
    /// Slots reserved per mapped unit, including its share of the spare flash, in 1/65,536.
    pub(crate) kept_slots: u64,
    pub(crate) modify_ns: u64,
    pub(crate) merge_ns: u64,
}

impl Plan {
    /// Maximum superblocks of the log while `mapped` map units are mapped.
    fn log_limit(&self, mapped: u32) -> u32 {
        let slots = (u64::from(mapped) * self.granules.kept_slots) >> 16;
        let kept = slots.div_ceil(u64::from(self.superblock_slots)) as u32 + RESERVE;
        self.superblocks.saturating_sub(kept).min(self.granules.most_log)
    }
}

impl Ssd {
    /// Accepts a write granule by granule while the buffer has room. True once all of it was accepted.
    pub(crate) fn admit_granules(&mut self, pending: &mut Pending) -> bool {
        let start_ns = pending.ready_ns;
        let size = 1 << self.plan.granules.shift;
        while pending.next_unit < pending.end_unit {
            if self.plan.buffer_slots - self.buffer_used < size {
                return false;
            }
            let first = pending.next_unit & !(size - 1);
            let end = (first + size).min(pending.end_unit);
            let (units, last) = (pending.next_unit..end, end == pending.end_unit);
            let partial = (pending.partial_head, last && pending.partial_tail);
            let whole = units.len() == size as usize && partial == (false, false);
            let ready_ns = if whole {
                units.for_each(|unit| self.place_once(unit, start_ns));
                start_ns
            } else if self.log_takes(units.len() as u32) {
                self.write_to_log(units, partial, start_ns)
            } else {
                self.modify_granule(units, start_ns)
            };
            pending.ready_ns = pending.ready_ns.max(ready_ns);
            (pending.next_unit, pending.partial_head) = (end, false);
            if self.log.used() > self.plan.log_limit(self.map.mapped) {
                self.sweep_log();
                self.sweep_log();
            }
        }
        true
    }

    /// Places a map unit in the host's open superblock, unless it is in an open program unit already.
    fn place_once(&mut self, unit: u32, ready_ns: u64) {
        if !self.in_buffer(self.map.l2p[unit as usize]) {
            self.place(unit, ready_ns);
        }
    }

    /// Reads the rest of a granule and rewrites all of it. Returns when the controller is done.
    fn modify_granule(&mut self, written: std::ops::Range<u32>, start_ns: u64) -> u64 {
        let first = written.start >> self.plan.granules.shift << self.plan.granules.shift;
        let end = (first + (1 << self.plan.granules.shift)).min(self.plan.map_units);
        let on_flash = |slot: u32| slot != NONE && !self.in_buffer(slot);
        if !(first..end).any(|unit| on_flash(self.map.l2p[unit as usize])) {
            // Nothing to read: the granule is new or still in the buffer.
            written.for_each(|unit| self.place_once(unit, start_ns));
            return start_ns;
        }
        let mut read_ns = start_ns;
        let mut sensed = NONE;
        for unit in first..end {
            let slot = self.map.l2p[unit as usize];
            if slot != NONE && !self.in_buffer(slot) {
                read_ns = read_ns.max(self.read_slot(slot, start_ns, &mut sensed));
            }
        }
        for unit in first..end {
            if written.contains(&unit) || self.map.l2p[unit as usize] != NONE {
                self.place_once(unit, read_ns);
            }
        }
        self.log.busy_ns = self.log.busy_ns.max(start_ns) + self.plan.granules.modify_ns;
        self.log.busy_ns.max(read_ns)
    }

    /// Reads one slot; adjacent slots in one program unit are sensed once.
    fn read_slot(&mut self, slot: u32, at_ns: u64, sensed: &mut u32) -> u64 {
        let unit = slot >> self.plan.unit_shift;
        let die = self.plan.die_of(slot);
        if std::mem::replace(sensed, unit) == unit {
            return self.flash.read_again(die, at_ns);
        }
        self.flash.read(die, at_ns, ReadRange { unit, slots: 1, sense_ns: self.plan.sense_ns(slot) })
    }

    /// Whether the log has room for `units` map units. Makes room if it can.
    fn log_takes(&mut self, units: u32) -> bool {
        let limit = self.plan.log_limit(self.map.mapped);
        if limit < 2 {
            return false;
        }
        if self.log.open.end - self.log.open.next >= units {
            return true;
        }
        while self.log.used() >= limit && self.sweep_log() {}
        self.log.used() < limit && self.free.len() > RESERVE as usize
    }

    fn write_to_log(
        &mut self,
        units: std::ops::Range<u32>,
        (head, tail): (bool, bool),
        start_ns: u64,
    ) -> u64 {
        let mut all_ns = start_ns;
        let last = units.end - 1;
        for unit in units.clone() {
            let old = self.map.l2p[unit as usize];
            if self.in_buffer(old) {
                continue;
            }
            let partial = (head && unit == units.start) || (tail && unit == last);
            let mut ready_ns = start_ns;
            if partial && old != NONE {
                ready_ns = self.read_slot(old, start_ns, &mut NONE.clone());
                all_ns = all_ns.max(ready_ns);
            }
            self.place_in_log(unit, ready_ns);
            // Once the log may not grow, each slot written is paid for by sweeping one slot of its oldest
            // superblock.
            let full = self.log.used() >= self.plan.log_limit(self.map.mapped);
            if full && self.sweep_log() {
                all_ns = all_ns.max(self.log.busy_ns);
            }
        }
        all_ns
    }

    fn place_in_log(&mut self, unit: u32, ready_ns: u64) {
        if self.log.open.filled >> self.plan.unit_shift != 0 {
            self.seal_log_unit();
        }
        if self.log.open.next == self.log.open.end {
            if self.log.open.end > 0 {
                let full = self.log.open.end / self.plan.superblock_slots - 1;
                self.states[full as usize] = SuperblockState::Log;
                self.log.sealed.push_back(full);
            }
            self.log.open = self.open_next();
        }
        let open = &mut self.log.open;
        self.map.map(unit, open.next);
        open.next += 1;
        open.filled += 1;
        open.ready_ns = open.ready_ns.max(ready_ns);
        self.buffer_used += 1;
        self.pace_collector();
    }

    /// Sends the log's program unit to its die as it is.
    pub(crate) fn seal_log_unit(&mut self) {
        let open = &mut self.log.open;
        let frees = std::mem::take(&mut open.filled);
        let (last, ready_ns) = (open.next - 1, open.ready_ns.max(self.now_ns));
        let leaf = self.through.as_mut().map_or(NOBODY, Through::begin_program);
        let die = self.plan.die_of(last);
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.sent(die, last + 1 - frees..last + 1);
        }
        self.flash.program_for(die, ready_ns, (frees, leaf), &mut self.events);
        self.health.nand_written_bytes += u64::from(frees) << self.plan.map_unit_shift;
    }

    /// Sends a partial program unit of the log, if there is one; its remaining slots stay empty.
    pub(crate) fn flush_log_unit(&mut self) {
        if self.log.open.filled > 0 {
            let unit = (self.log.open.next - 1) >> self.plan.unit_shift;
            self.seal_log_unit();
            self.log.open.next = (unit + 1) << self.plan.unit_shift;
        }
    }

    /// Examines the next slot of the log's oldest superblock and merges its granule. False if no superblock is
    /// full.
    pub(crate) fn sweep_log(&mut self) -> bool {
        if self.log.merging.is_none() {
            let Some(superblock) = self.log.sealed.pop_front() else { return false };
            self.states[superblock as usize] = SuperblockState::Merging;
            self.log.merging = Some(Victim::new(&self.plan, superblock, self.map.valid[superblock as usize]));
        }
        // The last free superblock is reserved for the collector.
        if self.may_collect() {
            self.make_room();
        }
        let victim = self.log.merging.as_mut().expect("chosen above");
        let (superblock, slot) = (victim.superblock, victim.step());
        if let Some(slot) = slot.filter(|&slot| self.map.is_valid(slot)) {
            self.merge(self.map.p2l[slot as usize] >> self.plan.granules.shift);
        }
        if slot.is_none() || self.map.valid[superblock as usize] == 0 {
            self.log.merging = None;
            self.states[superblock as usize] = SuperblockState::Free;
            self.free.push_back(superblock);
            self.erase_superblock(superblock);
        }
        true
    }

    /// In idle time: sweeps until one more granule is merged. False if the log has nothing left to sweep.
    pub(crate) fn merge_ahead(&mut self) -> bool {
        let merged_ns = self.log.busy_ns;
        while self.log.busy_ns == merged_ns {
            if !self.sweep_log() {
                return false;
            }
        }
        true
    }

    /// Moves all of a granule's units on flash to the collector's open superblock.
    fn merge(&mut self, granule: u32) {
        let first = granule << self.plan.granules.shift;
        let end = (first + (1 << self.plan.granules.shift)).min(self.plan.map_units);
        let mut sensed = NONE;
        for unit in first..end {
            let slot = self.map.l2p[unit as usize];
            if slot != NONE && !self.in_buffer(slot) {
                let read_ns = self.read_slot(slot, self.now_ns, &mut sensed);
                self.copy_to_open(slot, read_ns);
            }
        }
        self.log.busy_ns = self.log.busy_ns.max(self.now_ns) + self.plan.granules.merge_ns.max(1);
    }
}
