//! Writes past a write cache that is off: a command is answered when the flash has its data.
//!
//! Its last program unit is sent as it is, its other slots stay empty: nothing waits for a command that may never
//! come. That costs small writes their programs and their space, as it does in drives.

use crate::flash::NOBODY;
use crate::ssd::Ssd;

/// A write in flight.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    /// Programs of its data that have not ended.
    programs: u32,
    /// When it is answered at the earliest; none while the buffer has not all of it.
    ready_ns: Option<u64>,
}

/// The writes in flight, by their place among the commands.
pub(crate) struct Through {
    waiting: Vec<Waiting>,
    first_leaf: u32,
    /// Event leaf of the command whose data is being taken.
    taken: u32,
}

impl Through {
    pub(crate) fn new(dies: u32) -> Self {
        Self { waiting: Vec::new(), first_leaf: dies, taken: NOBODY }
    }

    /// Makes room for so many commands in flight.
    pub(crate) fn begin(&mut self, commands: usize) {
        self.waiting.clear();
        self.waiting.resize(commands, Waiting::default());
        self.taken = NOBODY;
    }

    /// From here on programs hold data of this command.
    pub(crate) fn take(&mut self, leaf: u32) {
        self.taken = leaf;
    }

    /// A program begins: the command that waits for it.
    pub(crate) fn begin_program(&mut self) -> u32 {
        if self.taken != NOBODY {
            self.of(self.taken).programs += 1;
        }
        self.taken
    }

    fn of(&mut self, leaf: u32) -> &mut Waiting {
        &mut self.waiting[(leaf - self.first_leaf) as usize]
    }
}

impl Ssd {
    /// Whether the volatile write cache is on; none for a drive whose buffer outlives a loss of power, and so
    /// always answers from it.
    #[must_use]
    pub fn write_cache(&self) -> Option<bool> {
        self.plan.volatile_buffer.then_some(self.through.is_none())
    }

    /// Turns the volatile write cache on or off, after all in it has reached the flash; whether there is one.
    pub fn set_write_cache(&mut self, on: bool) -> bool {
        let Some(is_on) = self.write_cache() else { return false };
        if is_on != on {
            self.empty_buffer();
            self.through = (!on).then(|| Through::new(self.plan.dies));
        }
        true
    }

    /// All of a command is in the buffer, and answered at `ready_ns` when its last program ends before: the answer,
    /// if there is nothing to wait for.
    #[cold]
    pub(crate) fn write_through(&mut self, leaf: u32, ready_ns: u64) -> Option<u64> {
        let before = [self.host.next, self.log.open.next];
        self.flush_host_unit();
        self.flush_log_unit();
        let empty = self.host.next - before[0] + self.log.open.next - before[1];
        // What stays empty is space that somebody has to win back.
        if self.host.next <= self.plan.cache_start {
            (0..empty).for_each(|_| self.pay_collector());
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

    /// A program has ended that the command on `leaf` waited for.
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
