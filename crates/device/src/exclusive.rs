//! A single target that may be written to: held exclusively after the user confirmed its erasure.

use admin::purge::{self, PurgeOptions, Purging};
use engine::{Clock, Flow, LoadOptions};
use record::{Purged, TargetFacts};

use crate::error::{DriveError, PurgeError};
use crate::sim::Simulated;
use crate::target::block::Block;
use crate::target::{Held, Real};

/// A single target that may be written to.
pub(crate) struct Exclusive {
    pub(crate) facts: TargetFacts,
    pub(crate) inner: Inner,
}

/// The open target itself.
#[expect(clippy::large_enum_variant, reason = "one value per target")]
pub(crate) enum Inner {
    Real { real: Box<Real>, held: Held, clock: Clock, options: LoadOptions },
    Simulated(Box<Simulated>),
}

impl Inner {
    /// Purges the target.
    pub(crate) fn purge(
        &mut self,
        options: &PurgeOptions,
        on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
    ) -> Result<Purged, DriveError> {
        match self {
            Self::Simulated(sim) => sim.purge(options),
            Self::Real { real, held, clock, .. } => match &**real {
                Real::Block(block) => {
                    let can = block.capabilities(held, *clock);
                    Ok(purge::perform(&mut block.admin(held, *clock), &can, options, on_progress)?)
                }
                Real::File(file) => {
                    only_way_of_a_file(options)?;
                    let start_ns = clock.now_ns();
                    file.punch(held)?;
                    let method = "hole punched in the file (not a PTS purge)".into();
                    let end_ns = clock.now_ns();
                    Ok(Purged {
                        method,
                        name: None,
                        pts_purge: false,
                        start_ns,
                        end_ns,
                        evidence: Vec::new(),
                        samples_read: false,
                    })
                }
            },
        }
    }

    /// Verifies between two workloads that the open target is still in the state in which it was armed.
    pub(crate) fn check_in_between(&self) -> Result<(), DriveError> {
        match self {
            Self::Simulated(_) => Ok(()),
            Self::Real { real, held, .. } => real.check_in_between(held),
        }
    }

    /// Checks in advance whether a purge with these options would start.
    pub(crate) fn check_purge(&self, options: &PurgeOptions) -> Result<(), DriveError> {
        match self {
            Self::Simulated(sim) => sim.check_purge(options),
            Self::Real { real, held, clock, .. } => match &**real {
                Real::Block(block) => Ok(purge::check(&block.capabilities(held, *clock), options)?),
                Real::File(_) => Ok(only_way_of_a_file(options)?),
            },
        }
    }

    /// Returns the block device with its descriptor and clock; `None` for other targets.
    pub(crate) fn block(&self) -> Option<(&Block, &Held, Clock)> {
        let Self::Real { real, held, clock, .. } = self else { return None };
        match &**real {
            Real::Block(block) => Some((block, held, *clock)),
            Real::File(_) => None,
        }
    }
}

fn only_way_of_a_file(options: &PurgeOptions) -> Result<(), PurgeError> {
    match options {
        PurgeOptions { method: None, verify: false, .. } => Ok(()),
        _ => Err(PurgeError::OptionsForFile),
    }
}
