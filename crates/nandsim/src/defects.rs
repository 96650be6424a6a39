//! Defects of the simulated firmware that a policy type may plant, so that tests can show that the checks find them.

/// A mistake that firmware could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Occasionally, the write buffer does not get back the slots that a program freed.
    LeaksBuffer,
    /// Occasionally, a freed superblock still holds a valid map unit.
    FreesTooEarly,
    /// Occasionally, a TRIM unmaps a map unit without marking its slot as garbage.
    ForgetsGarbage,
    /// Occasionally, a command that waits for the buffer is dropped.
    LosesCommands,
}

/// Decides when a drive makes a mistake. The policy is part of the drive's type, so a sound drive does not even ask.
pub trait Defects {
    /// Whether the drive exhibits `defect` now; `chance` is any number that varies between calls.
    fn strikes(&self, defect: Defect, chance: u64) -> bool;
}

/// The policy of every drive outside the tests: no defects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sound;

impl Defects for Sound {
    #[inline(always)]
    fn strikes(&self, _: Defect, _: u64) -> bool {
        false
    }
}
