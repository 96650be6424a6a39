//! Defects planted on purpose. The invariants are useful only if they detect each of these defects.

use crate::defects::{Defect, Defects};

/// The defects that the checks must detect.
pub(super) const DEFECTS: [Defect; 4] =
    [Defect::LeaksBuffer, Defect::FreesTooEarly, Defect::ForgetsGarbage, Defect::LosesCommands];

/// A drive with one defect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planted(pub(super) Defect);

impl Defects for Planted {
    fn strikes(&self, defect: Defect, chance: u64) -> bool {
        self.0 == defect && chance.is_multiple_of(16)
    }
}
