//! Individual commands, submitted and completed by tag, for loads that are not a closed loop.

use crate::events::NEVER;
use crate::ssd::Ssd;
use crate::{Cause, Failure};

/// Maximum number of tags of a queue.
const MOST_TAGS: usize = 1 << 16;

/// One read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// True for a read, false for a write.
    pub read: bool,
    /// First byte, a multiple of the logical block.
    pub offset_bytes: u64,
    /// Length, a multiple of the logical block and more than 0.
    pub length_bytes: u32,
}

/// A completed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The tag it was submitted with, which is free again.
    pub tag: usize,
    /// The command.
    pub command: Command,
    /// Submission time in ns.
    pub submitted_ns: u64,
    /// Completion time in ns.
    pub completed_ns: u64,
    /// Why it failed, if it did.
    pub failed: Option<Failure>,
}

/// A drive's commands in flight. Dropping the queue lets them complete, as at the end of a timed run.
///
/// Commands take the same path as in [`Ssd::run`]: a closed loop of the same accesses yields the same times and
/// leaves the drive in the same state. The collector works ahead only in [`Ssd::idle`].
pub struct Queue<'a> {
    ssd: &'a mut Ssd,
    tags: Vec<Option<(Command, u64)>>,
}

impl Ssd {
    /// Creates a queue with `tags` tags, numbered from 0.
    ///
    /// # Panics
    /// Panics if `tags` is 0 or more than 65,536.
    pub fn queue(&mut self, tags: usize) -> Queue<'_> {
        assert!((1..=MOST_TAGS).contains(&tags), "a queue has 1 to {MOST_TAGS} tags");
        self.begin(tags);
        Queue { ssd: self, tags: vec![None; tags] }
    }
}

impl Queue<'_> {
    /// Submits `command` now under a free tag.
    ///
    /// # Panics
    /// Panics if the tag is in use or out of range, or if the command is empty, not aligned to the logical block
    /// or extends beyond the end of the drive; callers validate first.
    pub fn submit(&mut self, tag: usize, command: Command) {
        let plan = &self.ssd.plan;
        let sector = u64::from(plan.logical_block_bytes);
        let (offset, length) = (command.offset_bytes, u64::from(command.length_bytes));
        assert!(length > 0 && length % sector == 0 && offset % sector == 0, "{command:?} is not aligned");
        assert!(offset + length <= plan.capacity_bytes, "{command:?} ends beyond the end of the drive");
        assert!(self.tags[tag].is_none(), "tag {tag} is taken");
        let leaf = plan.dies as usize + tag;
        self.tags[tag] = Some((command, self.ssd.now_ns));
        self.ssd.take(leaf, command.read, offset, command.length_bytes);
    }

    /// Advances time to the next completion, but not beyond `until_ns`: then returns `None`, with the clock at
    /// `until_ns`. With nothing in flight and no limit, the clock does not move.
    pub fn next_completion(&mut self, until_ns: u64) -> Option<Completion> {
        let dies = self.ssd.plan.dies as usize;
        loop {
            let (time, leaf) = self.ssd.events.next();
            if self.in_flight() > 0
                && let Some(gone_ns) = self.ssd.gone_ns().map(|at| at.max(self.ssd.now_ns))
                && gone_ns <= time.min(until_ns)
            {
                self.ssd.now_ns = gone_ns;
                let tag = self.tags.iter().position(Option::is_some).expect("one is in flight");
                return Some(self.complete(tag, gone_ns, Some(self.ssd.gone_cause())));
            }
            if time > until_ns || (time == NEVER || self.in_flight() == 0 && until_ns == NEVER) {
                if until_ns != NEVER {
                    self.ssd.now_ns = self.ssd.now_ns.max(until_ns);
                }
                return None;
            }
            self.ssd.now_ns = time;
            if leaf < dies {
                self.ssd.die_event(leaf);
            } else {
                let cause = self.ssd.struck(leaf);
                return Some(self.complete(leaf - dies, time, cause));
            }
        }
    }

    fn complete(&mut self, tag: usize, completed_ns: u64, cause: Option<Cause>) -> Completion {
        let (command, submitted_ns) = self.tags[tag].take().expect("a command completes once");
        self.ssd.in_flight -= 1;
        self.ssd.events.forget(self.ssd.plan.dies as usize + tag);
        let Command { read, offset_bytes, length_bytes } = command;
        if read && cause.is_none() {
            self.ssd.health.host_read_bytes += u64::from(length_bytes);
        }
        let failure = |cause| Failure { cause, read, offset_bytes, length_bytes, at_ns: completed_ns };
        let failed = cause.map(failure);
        Completion { tag, command, submitted_ns, completed_ns, failed }
    }

    /// Number of commands in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.ssd.in_flight
    }

    /// Whether a command in flight will fail.
    #[must_use]
    pub fn will_fail(&self) -> bool {
        self.ssd.has_failing()
    }

    /// The virtual clock in ns.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.ssd.now_ns
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        // During a panic, the state of the drive is undefined, and a second panic would abort the process.
        if !std::thread::panicking() {
            self.ssd.drain_in_flight();
        }
    }
}
