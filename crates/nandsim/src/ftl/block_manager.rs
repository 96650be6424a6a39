//! State and operations that all translation layers share: the mapping, the flash, the superblocks and the
//! write buffer.

use super::policy::Policy;
use super::superblocks::{OpenSuperblock, SuperblockState, Superblocks};
use super::unprogrammed::UnprogrammedSlots;
use super::victim::Victim;
use super::write_through::WriteThrough;
use crate::flash::{Finished, Flash, Layout, Map, Memory, NOBODY};
use crate::timeline::Timeline;
use crate::{Defects, Model, Scale, defects::Defect};

/// A drive's state below its translation layer.
pub(super) struct BlockManager<D> {
    pub(super) layout: Layout,
    pub(super) policy: Policy,
    pub(super) timeline: Timeline,
    pub(super) map: Map,
    pub(super) superblocks: Superblocks,
    /// The superblock to which the host's data is written.
    pub(super) host: OpenSuperblock,
    /// The superblock to which the collector copies data.
    pub(super) copies: OpenSuperblock,
    pub(super) victim: Option<Victim>,
    /// A ring's credit towards skipping a superblock without garbage, in 1/65,536.
    pub(super) ring_credit: u32,
    /// Number of copies that the collector still owes for the host's writes.
    pub(super) owed: u32,
    /// Pending bytes of the mapping table, and the die that they will be written to.
    pub(super) table: (u32, usize),
    pub(super) flash: Flash,
    pub(super) buffer_used: u32,
    /// Bytes programmed since the drive was created.
    pub(super) programmed_bytes: u64,
    /// State of the writes that are waiting for flash; `None` while the write cache is on.
    pub(super) write_through: Option<WriteThrough>,
    pub(super) unprogrammed: Option<Box<UnprogrammedSlots>>,
    pub(super) defects: D,
}

impl<D: Defects> BlockManager<D> {
    pub(super) fn new(
        model: &Model,
        scale: Scale,
        layout: Layout,
        seed: u64,
        (memory, defects): (Memory, D),
    ) -> Self {
        Self {
            policy: Policy::new(model, scale, &layout),
            timeline: Timeline::new(layout.dies()),
            map: Map::new(layout.map_units(), layout.all_superblocks(), layout.superblock_slots(), memory),
            superblocks: Superblocks::new(&layout),
            host: OpenSuperblock::default(),
            copies: OpenSuperblock::default(),
            victim: None,
            ring_credit: 0,
            owed: 0,
            table: (0, 0),
            flash: Flash::new(model, &layout, seed),
            buffer_used: 0,
            programmed_bytes: 0,
            write_through: None,
            unprogrammed: None,
            defects,
            layout,
        }
    }

    /// Erases everything except the counters and the clock.
    pub(super) fn renew(&mut self, seed: u64) {
        self.map.clear();
        self.superblocks.renew(&self.layout);
        (self.host, self.copies) = (OpenSuperblock::default(), OpenSuperblock::default());
        (self.victim, self.owed, self.ring_credit, self.buffer_used) = (None, 0, 0, 0);
        self.table = (0, 0);
        self.flash.renew(seed);
        self.timeline.renew(self.layout.dies(), 0);
    }

    /// Handles the completion of a program or erase operation on `die`.
    #[inline]
    pub(super) fn finish(&mut self, die: usize) -> Finished {
        let now_ns = self.timeline.now_ns;
        let mut finished = self.flash.finish(die, now_ns, &mut self.timeline.events);
        if self.defects.strikes(Defect::LeaksBuffer, now_ns) {
            finished.freed = 0;
        }
        self.buffer_used -= finished.freed;
        if finished.freed > 0
            && let Some(unprogrammed) = &mut self.unprogrammed
        {
            unprogrammed.ended(die);
        }
        finished
    }

    /// Puts one map unit into the next slot of the host's open superblock.
    #[inline]
    pub(super) fn fill_host_slot(&mut self, unit: u32, ready_ns: u64) {
        self.map.map(unit, self.host.next);
        self.host.next += 1;
        self.host.filled += 1;
        self.host.ready_ns = self.host.ready_ns.max(ready_ns);
        self.buffer_used += 1;
    }

    /// Sends the host's open program unit to its die.
    pub(super) fn send_host_unit(&mut self) {
        let open = self.host;
        self.send_unit(open, open.next > self.layout.cache_start());
        self.host.filled = 0;
    }

    /// Sends the open program unit of `open` to its die, full or not. The unit's data belongs to the current
    /// command.
    #[inline]
    pub(super) fn send_unit(&mut self, open: OpenSuperblock, cache: bool) {
        let die = self.layout.die_of(open.next - 1);
        // A full unit may have waited for the next slot, so it must not be sent as of the time when its data
        // was ready.
        let (ready_ns, frees) = (open.ready_ns.max(self.timeline.now_ns), open.filled);
        let leaf = self.write_through.as_mut().map_or(NOBODY, WriteThrough::begin_program);
        if let Some(unprogrammed) = &mut self.unprogrammed {
            unprogrammed.sent(die, open.next - frees..open.next);
        }
        if cache {
            self.flash.program_cache(die, ready_ns, (frees, leaf), &mut self.timeline.events);
        } else {
            self.flash.program_for(die, ready_ns, (frees, leaf), &mut self.timeline.events);
        }
        self.programmed_bytes += u64::from(frees) << self.layout.map_unit_shift();
    }

    /// Sends a partial program unit of the host to its die; its remaining slots stay empty.
    pub(super) fn flush_host_unit(&mut self) {
        if self.host.filled > 0 {
            self.send_host_unit();
            self.host.skip_rest_of_unit(self.layout.unit_shift());
        }
    }

    /// Accounts for the changes that a write command makes to the mapping table. The changes are programmed in
    /// whole units, on each die in turn.
    pub(super) fn write_table(&mut self, ready_ns: u64) {
        let (bytes, die) = &mut self.table;
        *bytes += self.policy.map_bytes_per_write;
        while *bytes >= self.policy.program_unit_bytes {
            *bytes -= self.policy.program_unit_bytes;
            self.flash.program(*die, ready_ns, 0, &mut self.timeline.events);
            self.programmed_bytes += u64::from(self.policy.program_unit_bytes);
            *die = (*die + 1) % self.layout.dies() as usize;
        }
    }

    /// Marks a full superblock outside the cache as sealed.
    pub(super) fn seal(&mut self, full: OpenSuperblock) {
        let Some(superblock) = self.superblocks.filled_by(full) else { return };
        self.superblocks.set(superblock, SuperblockState::Sealed);
        self.map.counts_now(superblock);
        if self.policy.victim_window.is_some() {
            self.superblocks.sealed.push_back(superblock);
        }
    }

    /// Adds a superblock without valid slots to the free superblocks, and erases it.
    pub(super) fn free_superblock(&mut self, superblock: u32) {
        self.superblocks.set(superblock, SuperblockState::Free);
        self.superblocks.free.push_back(superblock);
        self.erase_superblock(superblock);
    }

    /// Queues the erase operations of one superblock on every die.
    pub(super) fn erase_superblock(&mut self, superblock: u32) {
        self.superblocks.count_erase(superblock);
        for die in 0..self.layout.dies() as usize {
            self.flash.erase(die, self.timeline.now_ns, &mut self.timeline.events);
        }
    }

    /// Unmaps one map unit.
    #[inline]
    pub(super) fn unmap(&mut self, unit: u32) {
        if self.defects.strikes(Defect::ForgetsGarbage, unit.into()) {
            self.map.lose_entry(unit);
        }
        self.map.unmap(unit);
    }

    /// Discards host data that exists only in the buffer: the data of program operations that have not
    /// completed, and of the open program units in the host's superblock and in `log`.
    pub(super) fn lose_buffer(&mut self, log: &mut OpenSuperblock) {
        let Some(unprogrammed) = self.unprogrammed.as_deref() else { return };
        let filling = [self.host, *log].map(|open| open.next - open.filled..open.next);
        for slot in unprogrammed.all().chain(filling.into_iter().flatten()).collect::<Vec<_>>() {
            // If the data has been overwritten or moved since, the slot no longer contains it.
            if self.map.is_valid(slot) {
                self.map.unmap(self.map.unit_in(slot));
            }
        }
        let unit_shift = self.layout.unit_shift();
        for open in [&mut self.host, log] {
            self.buffer_used -= open.abandon_unit(unit_shift);
        }
    }
}
