//! The program operations that each write waits for while the write cache is off.

use crate::flash::NOBODY;

/// A write in flight.
#[derive(Debug, Clone, Copy, Default)]
struct WaitingWrite {
    /// Number of program operations of this write that have not completed.
    programs: u32,
    /// Earliest completion time; `None` until the buffer has all of the write's data.
    ready_ns: Option<u64>,
}

/// The writes in flight, indexed by command slot.
pub(super) struct WriteThrough {
    waiting: Vec<WaitingWrite>,
    first_leaf: u32,
    /// Event leaf of the command whose data is being accepted.
    current: u32,
}

impl WriteThrough {
    pub(super) fn new(dies: u32) -> Self {
        Self { waiting: Vec::new(), first_leaf: dies, current: NOBODY }
    }

    /// Prepares for `commands` commands in flight.
    pub(super) fn prepare(&mut self, commands: usize) {
        self.waiting.clear();
        self.waiting.resize(commands, WaitingWrite::default());
        self.current = NOBODY;
    }

    /// Attributes the program operations that follow to this command, or to none if it is [`NOBODY`].
    pub(super) fn accept_for(&mut self, leaf: u32) {
        self.current = leaf;
    }

    /// Called when a program operation is queued; returns the command that waits for it.
    pub(super) fn begin_program(&mut self) -> u32 {
        if self.current != NOBODY {
            self.of(self.current).programs += 1;
        }
        self.current
    }

    /// Called when all data of a command has been sent to the flash. The command completes after its last
    /// program operation, but not before `ready_ns`. Returns the completion time if there is no program
    /// operation left to wait for.
    pub(super) fn all_sent(&mut self, leaf: u32, ready_ns: u64) -> Option<u64> {
        self.current = NOBODY;
        let waiting = self.of(leaf);
        if waiting.programs == 0 {
            return Some(ready_ns);
        }
        waiting.ready_ns = Some(ready_ns);
        None
    }

    /// Called when a program operation that the command on `leaf` waits for has completed. Returns the command's
    /// earliest completion time if it waits for no more operations.
    pub(super) fn program_ended(&mut self, leaf: u32) -> Option<u64> {
        let waiting = self.of(leaf);
        waiting.programs -= 1;
        if waiting.programs > 0 {
            return None;
        }
        waiting.ready_ns.take()
    }

    fn of(&mut self, leaf: u32) -> &mut WaitingWrite {
        &mut self.waiting[(leaf - self.first_leaf) as usize]
    }
}
