//! The write path: buffering, read-modify-write and the placement of map units.

use crate::flash::{NOBODY, ReadRange};
use crate::map::NONE;
use crate::ssd::{Ssd, SuperblockState};
use crate::write_through::Through;

/// A superblock that is being filled: slots before `next` are in use.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Open {
    pub(crate) next: u32,
    /// End of the superblock; equal to `next` if a new one is needed.
    pub(crate) end: u32,
    /// Used slots of the program unit that has not been sent to a die yet.
    pub(crate) filled: u32,
    /// When all data of that unit has arrived.
    pub(crate) ready_ns: u64,
}

/// A write command, or the part of it that did not fit into the buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    /// Event leaf of the command.
    pub(crate) leaf: u32,
    pub(crate) next_unit: u32,
    pub(crate) end_unit: u32,
    /// Whether the next unit is written only partially.
    pub(crate) partial_head: bool,
    /// Whether the last unit is written only partially.
    pub(crate) partial_tail: bool,
    /// When the data accepted so far has arrived and been merged.
    pub(crate) ready_ns: u64,
    pub(crate) bytes: u32,
}

/// Prefetch distance for validity bits, in map units.
const UNITS_AHEAD: u32 = 8;

impl Ssd {
    /// Accepts a write. Returns the completion time, or `None` if it has to wait for the buffer.
    #[inline]
    pub(crate) fn write(&mut self, command: Pending) -> Option<u64> {
        if !self.blocked.is_empty() {
            self.blocked.push_back(command);
            return None;
        }
        // Copied so that `command` itself can move into the queue without a round trip through memory.
        let mut pending = command;
        if !self.admit_by_kind(&mut pending) {
            self.blocked.push_back(pending);
            return None;
        }
        let end = self.accepted(&pending);
        if self.through.is_some() { self.write_through(pending.leaf, end) } else { Some(end) }
    }

    fn accepted(&mut self, pending: &Pending) -> u64 {
        let need = self.plan.link_ns(pending.bytes);
        let link = if self.plan.link_full_duplex { &mut self.link_down } else { &mut self.link_up };
        link.book(pending.ready_ns, need) + self.plan.write_latency_ns
    }

    /// Admits blocked writes in order, as far as the buffer has room.
    pub(crate) fn admit_blocked(&mut self) {
        while let Some(mut pending) = self.blocked.pop_front() {
            pending.ready_ns = pending.ready_ns.max(self.now_ns);
            if !self.admit_by_kind(&mut pending) {
                self.blocked.push_front(pending);
                return;
            }
            let end = self.accepted(&pending);
            #[cfg(test)]
            if self.errs(crate::check::canary::Bug::LosesCommands, self.now_ns) {
                continue;
            }
            if self.through.is_none() {
                self.events.join(pending.leaf as usize, end);
            } else if let Some(end) = self.write_through(pending.leaf, end) {
                self.events.set(pending.leaf as usize, end);
            }
        }
    }

    #[inline]
    fn admit_by_kind(&mut self, pending: &mut Pending) -> bool {
        if let Some(through) = &mut self.through {
            through.take(pending.leaf);
        }
        if self.plan.granules.shift == 0 { self.admit(pending) } else { self.admit_granules(pending) }
    }

    /// Accepts as many map units as the buffer has room for. True once all of the write was accepted.
    #[inline]
    fn admit(&mut self, pending: &mut Pending) -> bool {
        let start_ns = pending.ready_ns;
        while pending.next_unit < pending.end_unit {
            let unit = pending.next_unit;
            if unit + UNITS_AHEAD < pending.end_unit {
                self.map.fetch_bits([unit + UNITS_AHEAD].into_iter());
            }
            let tail = unit + 1 == pending.end_unit;
            let partial = pending.partial_head || (tail && pending.partial_tail);
            let old = self.map.l2p[unit as usize];
            if !self.in_buffer(old) {
                if self.buffer_used == self.plan.buffer_slots {
                    return false;
                }
                let mut ready_ns = start_ns;
                if partial && old != NONE {
                    let sense_ns = self.plan.sense_ns(old) + self.plan.modify_ns;
                    let part = ReadRange { unit: old >> self.plan.unit_shift, slots: 1, sense_ns };
                    ready_ns = self.flash.read(self.plan.die_of(old), start_ns, part);
                    if !self.plan.modify_in_background {
                        pending.ready_ns = pending.ready_ns.max(ready_ns);
                    }
                }
                self.place(unit, ready_ns);
            }
            pending.partial_head = false;
            pending.next_unit += 1;
        }
        true
    }

    /// Whether `slot` belongs to an open program unit: a write to it merges, and a read of it is a buffer hit.
    #[inline]
    pub(crate) fn in_buffer(&self, slot: u32) -> bool {
        slot.wrapping_sub(self.host.next - self.host.filled) < self.host.filled || self.log.in_buffer(slot)
    }

    /// Places one map unit in the host's open superblock.
    #[inline]
    pub(crate) fn place(&mut self, unit: u32, ready_ns: u64) {
        // A full unit is kept until the next slot is needed, so that small sequential writes can merge into it.
        if self.host.filled >> self.plan.unit_shift != 0 {
            self.seal_host_unit();
        }
        if self.host.next == self.host.end {
            self.open_host_superblock();
        }
        self.map.map(unit, self.host.next);
        self.host.next += 1;
        self.host.filled += 1;
        self.host.ready_ns = self.host.ready_ns.max(ready_ns);
        self.buffer_used += 1;
        if self.host.next <= self.plan.cache_start {
            self.pace_collector();
        }
    }

    fn seal_host_unit(&mut self) {
        let die = self.plan.die_of(self.host.next - 1);
        // A unit that waited for the next slot must not be sent in the past.
        let (ready_ns, frees) = (self.host.ready_ns.max(self.now_ns), self.host.filled);
        let leaf = self.through.as_mut().map_or(NOBODY, Through::begin_program);
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.sent(die, self.host.next - frees..self.host.next);
        }
        if self.host.next <= self.plan.cache_start {
            self.flash.program_for(die, ready_ns, (frees, leaf), &mut self.events);
        } else {
            self.flash.program_cache(die, ready_ns, (frees, leaf), &mut self.events);
        }
        self.health.nand_written_bytes += u64::from(frees) << self.plan.map_unit_shift;
        self.host.filled = 0;
    }

    /// Accounts for the mapping table changes of a write command. They are programmed in whole units, on each die
    /// in turn.
    pub(crate) fn write_table(&mut self, ready_ns: u64) {
        let (bytes, die) = &mut self.table;
        *bytes += self.plan.map_bytes_per_write;
        while *bytes >= self.plan.program_unit_bytes {
            *bytes -= self.plan.program_unit_bytes;
            self.flash.program(*die, ready_ns, 0, &mut self.events);
            self.health.nand_written_bytes += u64::from(self.plan.program_unit_bytes);
            *die = (*die + 1) % self.plan.dies as usize;
        }
    }

    /// Sends a partial program unit of the host to its die; its remaining slots stay empty.
    pub(crate) fn flush_host_unit(&mut self) {
        if self.host.filled == 0 {
            return;
        }
        let unit = (self.host.next - 1) >> self.plan.unit_shift;
        self.seal_host_unit();
        self.host.next = (unit + 1) << self.plan.unit_shift;
    }

    fn open_host_superblock(&mut self) {
        if let Some(superblock) = self.cache.free.pop_front() {
            self.seal(self.host);
            self.host = self.open(superblock);
            return;
        }
        // The last free superblock is reserved for the collector, which could otherwise never free another one.
        self.make_room();
        self.seal(self.host);
        self.host = self.open_next();
    }

    /// Marks a full superblock as sealed.
    pub(crate) fn seal(&mut self, full: Open) {
        if full.end == 0 {
            return;
        }
        let superblock = full.end / self.plan.superblock_slots - 1;
        let in_cache = superblock >= self.plan.superblocks;
        self.states[superblock as usize] =
            if in_cache { SuperblockState::Cache } else { SuperblockState::Sealed };
        self.map.counts_now(superblock as usize);
        if in_cache {
            self.cache.sealed.push_back(superblock);
        } else if self.plan.victim_window.is_some() {
            self.sealed.push_back(superblock);
        }
    }

    /// Opens the next free superblock.
    pub(crate) fn open_next(&mut self) -> Open {
        let superblock = self.free.pop_front().expect("the collector keeps a superblock free");
        self.open(superblock)
    }

    fn open(&mut self, superblock: u32) -> Open {
        self.states[superblock as usize] = SuperblockState::Open;
        let next = superblock * self.plan.superblock_slots;
        Open { next, end: next + self.plan.superblock_slots, filled: 0, ready_ns: 0 }
    }
}
