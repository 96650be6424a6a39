//! Bugs planted on purpose, in test builds only: the rules are worth something if they catch each of them.

use crate::ssd::Ssd;

/// A mistake that a drive makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// Now and then the write buffer does not get back the slots that a program has freed.
    LeaksBuffer,
    /// Now and then a freed superblock still holds a map unit.
    FreesTooEarly,
    /// Now and then a TRIM forgets a map unit without counting it as garbage.
    ForgetsGarbage,
    /// Now and then a command that waits for the buffer is dropped.
    LosesCommands,
}

pub(crate) const BUGS: [Bug; 4] =
    [Bug::LeaksBuffer, Bug::FreesTooEarly, Bug::ForgetsGarbage, Bug::LosesCommands];

impl Ssd {
    /// Whether the drive makes this mistake now; `chance` is any number that changes.
    pub(crate) fn errs(&self, bug: Bug, chance: u64) -> bool {
        self.bug == Some(bug) && chance.is_multiple_of(16)
    }
}
