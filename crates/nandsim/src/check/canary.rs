//! Bugs planted on purpose, in test builds only. The invariants are useful only if they catch each of them.

use crate::ssd::Ssd;

/// A planted bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// Occasionally, the write buffer does not get back the slots that a program freed.
    LeaksBuffer,
    /// Occasionally, a freed superblock still holds a valid map unit.
    FreesTooEarly,
    /// Occasionally, a TRIM unmaps a map unit without marking its slot as garbage.
    ForgetsGarbage,
    /// Occasionally, a command that waits for the buffer is dropped.
    LosesCommands,
}

pub(crate) const BUGS: [Bug; 4] =
    [Bug::LeaksBuffer, Bug::FreesTooEarly, Bug::ForgetsGarbage, Bug::LosesCommands];

impl Ssd {
    /// Whether the drive exhibits this bug now; `chance` is any number that varies between calls.
    pub(crate) fn errs(&self, bug: Bug, chance: u64) -> bool {
        self.bug == Some(bug) && chance.is_multiple_of(16)
    }
}
