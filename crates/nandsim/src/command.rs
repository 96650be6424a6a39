//! The path of a command through the drive.

use crate::events::NEVER;
use crate::flash::ReadRange;
use crate::map::NONE;
use crate::ssd::Ssd;
use crate::write::Pending;

impl Ssd {
    /// Accepts a command; its completion will be on event leaf `leaf`.
    #[inline]
    pub(crate) fn take(&mut self, leaf: usize, read: bool, offset: u64, bytes: u32) {
        self.in_flight += 1;
        let struck = if self.attended { self.look_at(leaf, read, offset, bytes) } else { None };
        match struck {
            Some(end) => self.events.set(leaf, end),
            None if read => {
                let end = self.read_command(offset, bytes);
                self.events.set(leaf, end);
            }
            None => {
                self.events.clear(leaf);
                if let Some(end) = self.write_command(leaf as u32, offset, bytes) {
                    self.events.join(leaf, end);
                }
            }
        }
        if self.plan.fold_below > 0 {
            self.fold_under_load();
        }
    }

    /// Decides whether each command has to be inspected before it is accepted.
    pub(crate) fn attend(&mut self) {
        self.attended =
            self.witness.is_some() || self.thermal.may_throttle() || (self.faulty && self.faults.is_some());
    }

    #[cold]
    fn look_at(&mut self, leaf: usize, read: bool, offset: u64, bytes: u32) -> Option<u64> {
        self.see(read, offset, bytes);
        self.warm_up();
        if let Some(end) = self.strike(leaf, read, offset, bytes) {
            return Some(end);
        }
        let slow = (u64::from(bytes) * self.slowness_ns_per_64k()) >> 16;
        if slow > 0 {
            self.controller_free_ns = self.controller_free_ns.max(self.now_ns) + slow;
        }
        None
    }

    /// Updates the temperature to the current time.
    pub(crate) fn warm_up(&mut self) {
        let health = &self.health;
        let moved = self.taken_read_bytes + health.host_written_bytes + health.nand_written_bytes;
        self.thermal.advance(self.now_ns, moved);
    }

    #[inline]
    fn controller(&mut self, command_ns: u64, units: u32) -> u64 {
        let cost = command_ns + u64::from(units) * self.plan.map_unit_ns;
        self.controller_free_ns = self.controller_free_ns.max(self.now_ns) + cost;
        self.controller_free_ns
    }

    #[inline]
    fn write_command(&mut self, leaf: u32, offset: u64, bytes: u32) -> Option<u64> {
        let shift = self.plan.map_unit_shift;
        let end = offset + u64::from(bytes);
        let inside = (1u64 << shift) - 1;
        let next_unit = (offset >> shift) as u32;
        let end_unit = ((end + inside) >> shift) as u32;
        let ready_ns = self.controller(self.plan.write_command_ns, end_unit - next_unit);
        self.health.host_written_bytes += u64::from(bytes);
        if self.plan.map_bytes_per_write > 0 {
            self.write_table(ready_ns);
        }
        self.write(Pending {
            leaf,
            next_unit,
            end_unit,
            partial_head: offset & inside != 0,
            partial_tail: end & inside != 0,
            ready_ns,
            bytes,
        })
    }

    #[inline]
    fn read_command(&mut self, offset: u64, bytes: u32) -> u64 {
        let shift = self.plan.map_unit_shift;
        let first = (offset >> shift) as u32;
        let last = ((offset + u64::from(bytes) - 1) >> shift) as u32;
        let start = self.controller(self.plan.read_command_ns, last + 1 - first);
        self.taken_read_bytes += u64::from(bytes);
        let (first_ns, last_ns) =
            if first == last { self.read_unit(first, start) } else { self.read_units(first, last, start) };
        let sent = self.link_up.book(first_ns, self.plan.link_ns(bytes));
        sent.max(last_ns) + self.plan.read_latency_ns
    }

    /// Reads one map unit. Returns the time its data is available, twice, to match
    /// [`read_units`](Self::read_units).
    #[inline(always)]
    fn read_unit(&mut self, unit: u32, start_ns: u64) -> (u64, u64) {
        let slot = self.map.l2p[unit as usize];
        // Data that was never written or is still in the buffer needs no flash read.
        if slot == NONE || self.in_buffer(slot) {
            return (start_ns, start_ns);
        }
        let end = self.read_slots(slot, 1, start_ns);
        (end, end)
    }

    /// Reads the map units from `first` to `last`. Returns when the first of them is available, and when all are.
    fn read_units(&mut self, first: u32, last: u32, start_ns: u64) -> (u64, u64) {
        let (mut first_ns, mut last_ns) = (NEVER, start_ns);
        let mut unit = first;
        while unit <= last {
            let slot = self.map.l2p[unit as usize];
            unit += 1;
            if slot == NONE || self.in_buffer(slot) {
                first_ns = start_ns;
                continue;
            }
            // Adjacent slots of one program unit are sensed together.
            let mut slots = 1;
            while unit <= last
                && self.map.l2p[unit as usize] == slot + slots
                && (slot + slots) >> self.plan.unit_shift == slot >> self.plan.unit_shift
            {
                slots += 1;
                unit += 1;
            }
            let end = self.read_slots(slot, slots, start_ns);
            first_ns = first_ns.min(end);
            last_ns = last_ns.max(end);
        }
        (first_ns, last_ns)
    }

    /// Reads `slots` slots of one program unit, starting at `slot`.
    #[inline(always)]
    fn read_slots(&mut self, slot: u32, slots: u32, start_ns: u64) -> u64 {
        let part =
            ReadRange { unit: slot >> self.plan.unit_shift, slots, sense_ns: self.plan.sense_ns(slot) };
        self.flash.read_first(self.plan.die_of(slot), start_ns, part)
    }
}
