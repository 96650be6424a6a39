//! Defects that a policy type can plant in the simulated firmware, to test whether the checks detect them.

/// A possible firmware bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Sometimes, the slots that a program operation frees are not returned to the write buffer.
    LeaksBuffer,
    /// Sometimes, a freed superblock still contains a valid map unit.
    FreesTooEarly,
    /// Sometimes, a TRIM unmaps a map unit without marking its slot as garbage.
    ForgetsGarbage,
    /// Sometimes, a command that waits for the buffer is dropped.
    LosesCommands,
}

/// Determines when a firmware defect takes effect. The policy is part of the drive's type, so a drive without
/// defects has no overhead.
pub trait Defects {
    /// Returns whether the drive exhibits `defect` now; `chance` is any number that varies between calls.
    fn strikes(&self, defect: Defect, chance: u64) -> bool;
}

/// No defects: the policy of every drive except in tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sound;

impl Defects for Sound {
    #[inline(always)]
    fn strikes(&self, _: Defect, _: u64) -> bool {
        false
    }
}
