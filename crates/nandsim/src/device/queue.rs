//! Individual commands, submitted and completed by tag, for loads that are not a closed loop.

use super::driver::{Advance, MOST_IN_FLIGHT};
use super::state::Ssd;
use crate::events::NEVER;
use crate::{Cause, Defects, Failure, Sound};

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
    /// The command's tag, which is free again.
    pub tag: usize,
    /// The command.
    pub command: Command,
    /// Submission time in ns.
    pub submitted_ns: u64,
    /// Completion time in ns.
    pub completed_ns: u64,
    /// Why the command failed; `None` if it succeeded.
    pub failed: Option<Failure>,
}

/// A drive's command queue; see [`CommandQueue`].
pub type Queue<'a> = CommandQueue<'a, Sound>;

/// A drive's commands in flight. When the queue is dropped, the commands in flight complete, as at the end of
/// a timed run.
///
/// Commands take the same path as in [`Ssd::run`](crate::Ssd::run): a closed loop with the same accesses takes
/// the same times and leaves the drive in the same state. The collector works ahead only in
/// [`Ssd::idle`](crate::Ssd::idle).
pub struct CommandQueue<'a, D: Defects> {
    device: &'a mut Ssd<D>,
    tags: Vec<Option<(Command, u64)>>,
}

impl<D: Defects> Ssd<D> {
    /// Creates a queue with `tags` tags, numbered from 0.
    ///
    /// # Panics
    /// Panics if `tags` is 0 or more than [`MOST_IN_FLIGHT`].
    pub fn queue(&mut self, tags: usize) -> CommandQueue<'_, D> {
        assert!((1..=MOST_IN_FLIGHT as usize).contains(&tags), "a queue has 1 to {MOST_IN_FLIGHT} tags");
        self.prepare(tags);
        CommandQueue { device: self, tags: vec![None; tags] }
    }
}

impl<D: Defects> CommandQueue<'_, D> {
    /// Submits `command` now under an unused tag.
    ///
    /// # Panics
    /// Panics if the tag is in use or out of range, or if the command is empty, is not aligned to the logical block
    /// size, or extends beyond the end of the drive. Callers must validate commands.
    pub fn submit(&mut self, tag: usize, command: Command) {
        let device = &mut *self.device;
        let sector = u64::from(device.logical_block_bytes());
        let (offset, length) = (command.offset_bytes, u64::from(command.length_bytes));
        assert!(length > 0 && length % sector == 0 && offset % sector == 0, "{command:?} is not aligned");
        assert!(offset + length <= device.capacity_bytes(), "{command:?} ends beyond the end of the drive");
        assert!(self.tags[tag].is_none(), "tag {tag} is in use");
        let leaf = device.ftl.layout().dies() as usize + tag;
        self.tags[tag] = Some((command, device.now_ns()));
        device.accept(leaf, command.read, offset, command.length_bytes);
    }

    /// Advances time to the next completion. If there is none by `until_ns`, stops the clock there and returns
    /// `None`. If nothing is in flight and there is no limit, the clock does not advance.
    pub fn next_completion(&mut self, until_ns: u64) -> Option<Completion> {
        let nothing = self.in_flight() == 0;
        if nothing && until_ns == NEVER {
            return None;
        }
        let gone_ns = if nothing { NEVER } else { self.device.gone_ns() };
        match self.device.advance(until_ns, gone_ns) {
            Advance::Completed { command, cause } => Some(self.complete(command, cause)),
            Advance::Gone => {
                let tag = self.tags.iter().position(Option::is_some).expect("one is in flight");
                self.device.in_flight -= 1;
                Some(self.complete(tag, Some(self.device.faults.gone_cause())))
            }
            Advance::Limit => None,
        }
    }

    fn complete(&mut self, tag: usize, cause: Option<Cause>) -> Completion {
        let (command, submitted_ns) = self.tags[tag].take().expect("a command completes once");
        let leaf = self.device.ftl.layout().dies() as usize + tag;
        let completed_ns = self.now_ns();
        self.device.ftl.timeline_mut().events.forget(leaf);
        let Command { read, offset_bytes, length_bytes } = command;
        if read && cause.is_none() {
            self.device.counters.host_read_bytes += u64::from(length_bytes);
        }
        let failure = |cause| Failure { cause, read, offset_bytes, length_bytes, at_ns: completed_ns };
        let failed = cause.map(failure);
        Completion { tag, command, submitted_ns, completed_ns, failed }
    }

    /// Returns the number of commands in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.device.in_flight()
    }

    /// Returns whether any command in flight will fail.
    #[must_use]
    pub fn will_fail(&self) -> bool {
        self.device.faults.has_failing()
    }

    /// Returns the virtual clock in ns.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.device.now_ns()
    }
}

impl<D: Defects> Drop for CommandQueue<'_, D> {
    fn drop(&mut self) {
        // During a panic, the drive's state is undefined, and a second panic would abort the process.
        if !std::thread::panicking() {
            self.device.drain_in_flight();
        }
    }
}
