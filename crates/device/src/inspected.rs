//! A single target that was inspected but not opened for writing: a drive, a file or a simulated drive.

use engine::{Clock, Engine, LoadOptions, Polling};
use record::TargetFacts;

use crate::error::DriveError;
use crate::error::confirm::Unconfirmed;
use crate::error::target::TargetError;
use crate::exclusive::{Exclusive, Inner};
use crate::load_options::load_options;
use crate::open_options::OpenOptions;
use crate::refusal::Refusal;
use crate::sim::Simulated;
use crate::target::{self, Real, block::Block};
use sysfs::Roots;

/// A single target and its properties.
#[derive(Debug)]
pub(crate) struct Inspected {
    pub(crate) facts: TargetFacts,
    pub(crate) kind: Single,
}

/// The type of target.
#[derive(Debug)]
pub(crate) enum Single {
    Real(Box<Real>, LoadOptions),
    Simulated(Box<Simulated>),
}

impl Inspected {
    /// Inspects a target on a host whose `/sys` and `/proc` are under `roots`.
    pub(crate) fn open(target: &str, options: &OpenOptions, roots: Roots) -> Result<Self, DriveError> {
        if let Some(model) = target.strip_prefix("sim:") {
            let (simulated, facts) = simulated(target, model, options)?;
            return Ok(Self { facts, kind: Single::Simulated(Box::new(simulated)) });
        }
        let real = Real::open(target, options, roots.clone())?;
        let load = load_options(target, &real, options, &roots)?;
        Ok(Self { facts: real.facts().clone(), kind: Single::Real(Box::new(real), load) })
    }

    /// Returns the block device; `None` for other targets.
    pub(crate) fn block(&self) -> Option<&Block> {
        match &self.kind {
            Single::Real(real, _) => match &**real {
                Real::Block(block) => Some(block),
                Real::File(_) => None,
            },
            Single::Simulated(_) => None,
        }
    }

    /// Returns all current reasons not to write to the target.
    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        self.kind.refusals()
    }

    /// Opens the target for writing. `erase` is the identity of the target that may be erased. Repeats all checks
    /// and creates a file that does not exist.
    pub(crate) fn arm(self, erase: Option<&str>) -> Result<Exclusive, DriveError> {
        let Self { mut facts, kind } = self;
        let (real, options) = match kind {
            Single::Simulated(simulated) => {
                return Ok(Exclusive { facts, inner: Inner::Simulated(simulated) });
            }
            Single::Real(real, options) => (real, options),
        };
        let given = erase.map(str::to_owned);
        let mut refusals = real.refusals();
        if refusals == [Refusal::Locked { tried: None }] && given.as_ref() == Some(&facts.identity) {
            real.unlock()?;
            refusals = real.refusals();
        }
        if !refusals.is_empty() {
            return Err(DriveError::Refused { target: facts.path, refusals });
        }
        // A wrong identity is an error even if no identity is required, because the caller means another
        // target.
        if (real.needs_erase_confirmation() || given.is_some()) && given.as_ref() != Some(&facts.identity) {
            let (target, identity) = (facts.path, facts.identity);
            return Err(Unconfirmed::Target { target, identity, given }.into());
        }
        log::info!("{}: not in use and without a known signature; opening it for writing", facts.path);
        let held = real.hold(options.sends_commands(), given.is_some())?;
        if let Real::File(_) = *real {
            // Unknown until now if the file has just been created.
            facts.logical_block_bytes = target::file::direct_block_bytes(&held.fd);
            facts.physical_block_bytes = facts.logical_block_bytes;
            facts.attachment = target::file::birth(&held.fd);
        }
        let inner = Inner::Real { real, held, clock: Clock::start(), options };
        Ok(Exclusive { facts, inner })
    }
}

impl Single {
    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        match self {
            Self::Real(real, _) => real.refusals(),
            Self::Simulated(_) => Vec::new(),
        }
    }
}

fn simulated(
    target: &str,
    model: &str,
    options: &OpenOptions,
) -> Result<(Simulated, TargetFacts), DriveError> {
    for manner in options.manners() {
        if manner.placement.is_some() {
            return Err(DriveError::target(target, TargetError::NoThreads));
        }
        if manner.polling != Polling::No {
            return Err(DriveError::target(target, TargetError::NothingToPoll));
        }
        if matches!(manner.engine, Engine::Null | Engine::Files(_)) {
            return Err(DriveError::target(target, TargetError::EngineWithoutTarget));
        }
        if matches!(manner.engine, Engine::Space(_)) {
            return Err(DriveError::target(target, TargetError::NotAFile));
        }
        if manner.engine == Engine::Scsi {
            return Err(DriveError::target(target, TargetError::NotScsi));
        }
        if manner.engine == Engine::IoUringCmd {
            return Err(DriveError::target(target, TargetError::SimulatedPassthrough));
        }
    }
    Simulated::new(target, model, options)
}
