//! The path of a command through the drive.

use super::state::Ssd;
use crate::Cause;
use crate::defects::{Defect, Defects};
use crate::flash::NOBODY;
use crate::ftl::HostWrite;

impl<D: Defects> Ssd<D> {
    /// Accepts a command that will complete on event leaf `leaf`.
    #[inline]
    pub(super) fn accept(&mut self, leaf: usize, read: bool, offset: u64, bytes: u32) {
        self.in_flight += 1;
        let failed_ns = if self.inspects { self.inspect(leaf, read, offset, bytes) } else { None };
        match failed_ns {
            Some(end) => self.ftl.timeline_mut().events.set(leaf, end),
            None if read => {
                let end = self.read_command(offset, bytes);
                self.ftl.timeline_mut().events.set(leaf, end);
            }
            None => {
                self.ftl.timeline_mut().events.clear(leaf);
                if let Some(end) = self.write_command(leaf as u32, offset, bytes) {
                    self.ftl.timeline_mut().events.append(leaf, end);
                }
            }
        }
        self.ftl.work_under_load();
    }

    /// Records a command and applies faults and throttling to it. Returns the time when the command fails, if it does.
    #[cold]
    fn inspect(&mut self, leaf: usize, read: bool, offset: u64, bytes: u32) -> Option<u64> {
        let now_ns = self.now_ns();
        let (capacity_bytes, in_flight) = (self.capacity_bytes(), self.in_flight);
        if let Some(recorder) = self.recorder.as_deref_mut() {
            recorder.record((read, offset, bytes), capacity_bytes, (in_flight, now_ns));
        }
        self.update_temperature();
        if let Some((cause, end)) = self.faults.strike((leaf, now_ns), read, offset, bytes) {
            self.counters.media_errors += u64::from(cause == Cause::Media);
            return Some(end);
        }
        let own = if self.thermal.is_throttled() { self.thermal.slow_ns_per_64k() } else { 0 };
        let slow = (u64::from(bytes) * self.faults.slow_ns_per_64k(now_ns).max(own)) >> 16;
        if slow > 0 {
            self.controller_free_ns = self.controller_free_ns.max(now_ns) + slow;
        }
        None
    }

    #[inline]
    fn controller(&mut self, command_ns: u64, units: u32) -> u64 {
        let cost = command_ns + u64::from(units) * self.timing.map_unit_ns;
        self.controller_free_ns = self.controller_free_ns.max(self.ftl.timeline().now_ns) + cost;
        self.controller_free_ns
    }

    #[inline]
    fn read_command(&mut self, offset: u64, bytes: u32) -> u64 {
        let shift = self.ftl.layout().map_unit_shift();
        let first = (offset >> shift) as u32;
        let last = ((offset + u64::from(bytes) - 1) >> shift) as u32;
        let start = self.controller(self.timing.read_command_ns, last + 1 - first);
        self.accepted_read_bytes += u64::from(bytes);
        let (first_ns, last_ns) = self.ftl.read((first, last), start);
        let sent = self.link_up.book(first_ns, self.timing.link_ns(bytes));
        sent.max(last_ns) + self.timing.read_latency_ns
    }

    /// Accepts a write. Returns the completion time, or `None` if the write must wait for the buffer.
    #[inline]
    fn write_command(&mut self, leaf: u32, offset: u64, bytes: u32) -> Option<u64> {
        let write = HostWrite::new(leaf, offset, bytes, self.ftl.layout().map_unit_shift());
        let ready_ns = self.controller(self.timing.write_command_ns, write.units());
        self.counters.host_written_bytes += u64::from(bytes);
        if self.ftl.writes_table() {
            self.ftl.write_table(ready_ns);
        }
        let write = write.not_before(ready_ns);
        if !self.blocked.is_empty() {
            self.blocked.push_back(write);
            return None;
        }
        // A copy, so that `write` itself can be moved into the queue without passing through memory.
        let mut rest = write;
        if !self.ftl.admit(&mut rest) {
            self.blocked.push_back(rest);
            return None;
        }
        let end = self.transfer(&rest);
        if self.ftl.is_write_through() { self.complete_through(leaf, end) } else { Some(end) }
    }

    /// Transfers a write's data to the buffer. Returns the earliest time at which the command may complete.
    fn transfer(&mut self, write: &HostWrite) -> u64 {
        let need = self.timing.link_ns(write.bytes());
        let link = if self.timing.link_full_duplex { &mut self.link_down } else { &mut self.link_up };
        link.book(write.ready_ns(), need) + self.timing.write_latency_ns
    }

    #[cold]
    fn complete_through(&mut self, leaf: u32, end_ns: u64) -> Option<u64> {
        self.ftl.complete_through(leaf, end_ns)
    }

    /// Admits blocked writes in order for as long as the buffer has room.
    fn admit_blocked(&mut self) {
        while let Some(write) = self.blocked.pop_front() {
            let now_ns = self.ftl.timeline().now_ns;
            let mut write = write.not_before(now_ns);
            if !self.ftl.admit(&mut write) {
                self.blocked.push_front(write);
                return;
            }
            let (leaf, end) = (write.leaf(), self.transfer(&write));
            if self.ftl.defects().strikes(Defect::LosesCommands, now_ns) {
                continue;
            }
            if !self.ftl.is_write_through() {
                self.ftl.timeline_mut().events.append(leaf as usize, end);
            } else if let Some(end) = self.complete_through(leaf, end) {
                self.ftl.timeline_mut().events.set(leaf as usize, end);
            }
        }
    }

    /// Handles the completion of a program or erase operation.
    #[inline]
    pub(super) fn finish_on_die(&mut self, die: usize) {
        let finished = self.ftl.finish(die);
        if finished.leaf != NOBODY {
            self.program_ended(finished.leaf);
        }
        if finished.freed > 0 && !self.blocked.is_empty() {
            self.admit_blocked();
        }
    }

    /// Handles the completion of a program operation that the command on `leaf` is waiting for.
    #[cold]
    fn program_ended(&mut self, leaf: u32) {
        if let Some(ready_ns) = self.ftl.program_ended(leaf) {
            let end = ready_ns.max(self.now_ns() + self.timing.write_latency_ns);
            self.ftl.timeline_mut().events.set(leaf as usize, end);
        }
    }
}
