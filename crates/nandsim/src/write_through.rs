//! Writes with the write cache off: a command completes when its data is on the flash.
//!
//! Its last program unit is sent even if it is partial, and the remaining slots stay empty, rather than wait for a
//! command that may never arrive. This costs small writes extra programs and space, as on real drives.

use crate::flash::NOBODY;
use crate::ssd::Ssd;

/// A write in flight.
#[derive(Debug, Clone, Copy, Default)]
struct PendingWrite {
    /// Programs of its data that have not ended.
    programs: u32,
    /// Earliest completion time; `None` until the buffer has all of its data.
    ready_ns: Option<u64>,
}

/// The writes in flight, indexed by command slot.
pub(crate) struct Through {
    waiting: Vec<PendingWrite>,
    first_leaf: u32,
    /// Event leaf of the command whose data is being accepted.
    taken: u32,
}

impl Through {
    pub(crate) fn new(dies: u32) -> Self {
        Self { waiting: Vec::new(), first_leaf: dies, taken: NOBODY }
    }

    /// Prepares for `commands` commands in flight.
    pub(crate) fn begin(&mut self, commands: usize) {
        self.waiting.clear();
        self.waiting.resize(commands, PendingWrite::default());
        self.taken = NOBODY;
    }

    /// From now on, programs hold data of this command.
    pub(crate) fn take(&mut self, leaf: u32) {
        self.taken = leaf;
    }

    /// Called when a program begins; returns the command that waits for it.
    pub(crate) fn begin_program(&mut self) -> u32 {
        if self.taken != NOBODY {
            self.of(self.taken).programs += 1;
        }
        self.taken
    }

    fn of(&mut self, leaf: u32) -> &mut PendingWrite {
        &mut self.waiting[(leaf - self.first_leaf) as usize]
    }
}

impl Ssd {
    /// Whether the volatile write cache is on; `None` for a drive with a non-volatile buffer, whose writes always
    /// complete from the buffer.
    #[must_use]
    pub fn write_cache(&self) -> Option<bool> {
        self.plan.volatile_buffer.then_some(self.through.is_none())
    }

    /// Enables or disables the volatile write cache, after flushing it. False if the drive has none.
    pub fn set_write_cache(&mut self, on: bool) -> bool {
        let Some(is_on) = self.write_cache() else { return false };
        if is_on != on {
            self.empty_buffer();
            self.through = (!on).then(|| Through::new(self.plan.dies));
        }
        true
    }

    /// Called once all data of a command is in the buffer. The command completes after its last program, but not
    /// before `ready_ns`. Returns the completion time if no program is left to wait for.
    #[cold]
    pub(crate) fn write_through(&mut self, leaf: u32, ready_ns: u64) -> Option<u64> {
        let before = [self.host.next, self.log.open.next];
        self.flush_host_unit();
        self.flush_log_unit();
        let empty = self.host.next - before[0] + self.log.open.next - before[1];
        // The empty slots are space that the collector must reclaim.
        if self.host.next <= self.plan.cache_start {
            (0..empty).for_each(|_| self.pace_collector());
        }
        let through = self.through.as_mut().expect("only without a cache");
        through.taken = NOBODY;
        let waiting = through.of(leaf);
        if waiting.programs == 0 {
            return Some(ready_ns);
        }
        waiting.ready_ns = Some(ready_ns);
        None
    }

    /// Handles the end of a program that the command on `leaf` waits for.
    #[cold]
    pub(crate) fn programmed(&mut self, leaf: u32) {
        let Some(through) = &mut self.through else { return };
        let waiting = through.of(leaf);
        waiting.programs -= 1;
        if waiting.programs == 0
            && let Some(ready_ns) = waiting.ready_ns.take()
        {
            self.events.set(leaf as usize, ready_ns.max(self.now_ns + self.plan.write_latency_ns));
        }
    }
}
