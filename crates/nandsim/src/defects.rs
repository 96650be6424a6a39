//! Defects that a policy type may plant in the simulated firmware, to test that the checks find them.

/// A mistake that firmware could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Occasionally, the slots that a program operation freed are not returned to the write buffer.
    LeaksBuffer,
    /// Occasionally, a freed superblock still holds a valid map unit.
    FreesTooEarly,
    /// Occasionally, a TRIM unmaps a map unit without marking its slot as garbage.
    ForgetsGarbage,
    /// Occasionally, a command that waits for the buffer is dropped.
    LosesCommands,
}

/// Decides when a drive makes a mistake. The policy is part of the drive's type, so a sound drive pays
/// nothing for it.
pub trait Defects {
    /// Whether the drive exhibits `defect` now; `chance` is any number that varies between calls.
    fn strikes(&self, defect: Defect, chance: u64) -> bool;
}

/// No defects: the policy of every drive outside the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sound;

impl Defects for Sound {
    #[inline(always)]
    fn strikes(&self, _: Defect, _: u64) -> bool {
        false
    }
}
