//! Advances a drive from event to event: for closed loops, queues and admin operations.

use super::state::Ssd;
use crate::events::NEVER;
use crate::{Cause, Defects};

/// Maximum number of commands in flight.
pub const MOST_IN_FLIGHT: u32 = 1 << 16;

/// Why the driver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Advance {
    /// The command with this index completed or, if a cause is given, failed.
    Completed { command: usize, cause: Option<Cause> },
    /// The drive has been removed or has lost power, with commands in flight.
    Gone,
    /// The clock has reached the limit, or no event is pending.
    Limit,
}

impl<D: Defects> Ssd<D> {
    /// Prepares for up to `commands` commands in flight.
    pub(super) fn prepare(&mut self, commands: usize) {
        self.ftl.prepare(commands);
    }

    /// Returns the time at which the drive will disappear; [`NEVER`] if no fault will remove it or cut its
    /// power.
    pub(super) fn gone_ns(&self) -> u64 {
        self.faults.gone_ns().unwrap_or(NEVER)
    }

    /// Advances time to the next completion, but not beyond `until_ns` or `gone_ns`, when the drive disappears.
    /// The clock never moves backwards.
    #[inline(always)]
    pub(super) fn advance(&mut self, until_ns: u64, gone_ns: u64) -> Advance {
        let dies = self.ftl.layout().dies() as usize;
        loop {
            let timeline = self.ftl.timeline_mut();
            let (time, leaf) = timeline.events.next();
            if time > until_ns || time >= gone_ns || time == NEVER {
                return self.stop(until_ns, gone_ns);
            }
            timeline.now_ns = time;
            if leaf < dies {
                self.finish_on_die(leaf);
            } else {
                self.in_flight -= 1;
                return Advance::Completed { command: leaf - dies, cause: self.faults.failure_of(leaf) };
            }
        }
    }

    #[cold]
    fn stop(&mut self, until_ns: u64, gone_ns: u64) -> Advance {
        let timeline = self.ftl.timeline_mut();
        let (now_ns, next_ns) = (timeline.now_ns, timeline.events.next().0);
        let gone_ns = gone_ns.max(now_ns);
        if gone_ns != NEVER && gone_ns <= next_ns.min(until_ns) {
            timeline.now_ns = gone_ns;
            return Advance::Gone;
        }
        if until_ns != NEVER {
            timeline.now_ns = now_ns.max(until_ns);
        }
        Advance::Limit
    }

    /// Processes the next event, unless it is later than `until_ns`. Returns whether an event was processed.
    /// No commands may be in flight.
    pub(super) fn finish_next(&mut self, until_ns: u64) -> bool {
        let timeline = self.ftl.timeline_mut();
        let (time, die) = timeline.events.next();
        if time > until_ns {
            return false;
        }
        timeline.now_ns = time;
        self.finish_on_die(die);
        true
    }

    /// Processes all events up to `until_ns`, without starting new work. No commands may be in flight.
    pub(super) fn finish_until(&mut self, until_ns: u64) {
        self.prepare(0);
        let stopped = self.advance(until_ns, NEVER);
        debug_assert_eq!(stopped, Advance::Limit, "a command is in flight");
    }

    /// Lets the commands in flight complete without counting them, except writes that wait for the buffer. If
    /// the drive disappears, all of them are dropped.
    pub(super) fn drain_in_flight(&mut self) {
        // If the drive has disappeared, the blocked commands may already have failed.
        self.in_flight = self.in_flight.saturating_sub(self.blocked.len() as u32);
        self.blocked.clear();
        let (dies, gone_ns) = (self.ftl.layout().dies() as usize, self.gone_ns());
        while self.in_flight > 0 {
            match self.advance(NEVER, gone_ns) {
                Advance::Completed { command, .. } => self.ftl.timeline_mut().events.clear(dies + command),
                Advance::Gone => break,
                Advance::Limit => panic!("a command in flight never completes"),
            }
        }
        self.in_flight = 0;
        self.ftl.forget_commands();
        self.faults.forget_failing();
        self.update_temperature();
    }

    /// Waits for all operations in progress.
    pub(super) fn settle(&mut self) {
        self.finish_until(NEVER);
        self.set_now(self.now_ns().max(self.ftl.busy_ns()).max(self.controller_free_ns));
    }

    /// Waits until all accepted data is on the flash.
    pub(super) fn empty_buffer(&mut self) {
        self.settle();
        self.ftl.flush();
        self.settle();
    }
}
