//! A target that was inspected but not opened for writing.

use std::path::Path;

use admin::About;
use record::TargetFacts;

use crate::armed::Armed;
use crate::array::{self, Array};
use crate::checks::{Conditions, HostLook};
use crate::error::DriveError;
use crate::error::confirm::Unconfirmed;
use crate::exclusive::Exclusive;
use crate::inspected::{Inspected, Single};
use crate::reader::Reader;
use crate::refusal::Refusal;
use crate::target::{FileState, Real};
use crate::{about, checks};

/// A target that was inspected but not opened for writing.
#[derive(Debug)]
pub struct Drive {
    pub(crate) facts: TargetFacts,
    pub(crate) kind: Kind,
}

/// The type of target.
#[derive(Debug)]
pub(crate) enum Kind {
    Single(Single),
    Array(Box<Array>),
}

impl Drive {
    /// Returns the properties of the target.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Returns all current reasons not to write to the target.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        match &self.kind {
            Kind::Single(single) => single.refusals(),
            Kind::Array(array) => array.refusals(),
        }
    }

    /// Returns whether [`arm`](Self::arm) requires the target's identity: always for block devices and arrays,
    /// for files only if they contain data, and never for simulated drives.
    #[must_use]
    pub fn needs_erase_confirmation(&self) -> bool {
        match &self.kind {
            Kind::Single(Single::Real(real, _)) => real.needs_erase_confirmation(),
            Kind::Single(Single::Simulated(_)) => false,
            Kind::Array(_) => true,
        }
    }

    /// Returns the state of an existing file; `None` for any other target.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the file cannot be read, or is no longer the
    /// inspected file.
    pub fn file_state(&self) -> Result<Option<FileState>, DriveError> {
        match &self.kind {
            Kind::Single(Single::Real(real, _)) => real.file_state(),
            Kind::Single(Single::Simulated(_)) | Kind::Array(_) => Ok(None),
        }
    }

    /// Opens the target for reading only. This requires no confirmation and is possible while the target is in use.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the target does not exist, cannot be read, or is no
    /// longer the inspected target.
    pub fn open_to_read(self) -> Result<Reader, DriveError> {
        match self.kind {
            Kind::Single(Single::Simulated(simulated)) => Ok(Reader::of_simulated(self.facts, simulated)),
            Kind::Single(Single::Real(real, options)) => Reader::of_real(self.facts, &real, options),
            Kind::Array(_) => Err(array::only_for_runs(&self.facts.path)),
        }
    }

    /// Opens the target for writing. `erase` is the identity of the target that may be erased. Repeats all
    /// checks and creates a file that does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) if the target is in use or contains a known format,
    /// or if `erase` is not its identity.
    pub fn arm(self, erase: Option<&str>) -> Result<Armed, DriveError> {
        let Self { facts, kind } = self;
        match kind {
            Kind::Single(kind) => {
                let Exclusive { facts, inner } = Inspected { facts, kind }.arm(erase)?;
                Ok(Armed { facts, inner, effort: None, array: None })
            }
            Kind::Array(_) => Err(array::only_for_runs(&facts.path)),
        }
    }

    /// Arms the target for a run. If it is an array, `erase` must contain the identity of each member. `notes`
    /// is the folder for the note that the next start uses to dismantle the array after a crash.
    ///
    /// # Errors
    /// Returns the errors of [`arm`](Self::arm) for each member, and
    /// [`ErrorKind::Device`](crate::ErrorKind::Device) if the array cannot be created.
    pub fn arm_for_run(self, erase: &[String], notes: &Path) -> Result<Armed, DriveError> {
        match (self.kind, erase) {
            (Kind::Array(array), _) => {
                let (facts, inner, assembly) = array.arm(self.facts, erase, notes)?;
                Ok(Armed { facts, inner, effort: None, array: Some(Box::new(assembly)) })
            }
            (_, [_, second, ..]) => {
                Err(Unconfirmed::OneDrive { target: self.facts.path, second: second.clone() }.into())
            }
            (kind, _) => Self { facts: self.facts, kind }.arm(erase.first().map(String::as_str)),
        }
    }

    /// Returns all facts that the host and the device report about the target; empty for files.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unusable`] if the target cannot be opened.
    pub fn about(&self) -> Result<About, DriveError> {
        match &self.kind {
            Kind::Single(Single::Simulated(sim)) => Ok(sim.about()),
            Kind::Array(_) => Ok(About::default()),
            Kind::Single(Single::Real(real, _)) => match &**real {
                Real::Block(block) => about::of_block(block),
                Real::File(_) => Ok(About::default()),
            },
        }
    }

    /// Checks the drive's host, which takes about a third of a second. The result is empty for a simulated
    /// drive, which the host does not affect.
    #[must_use]
    pub fn host_look(&self) -> HostLook {
        match &self.kind {
            Kind::Single(Single::Real(real, _)) => checks::look(real),
            Kind::Single(Single::Simulated(_)) | Kind::Array(_) => HostLook::default(),
        }
    }

    /// Checks what no setting of a run changes; `None` for a simulated drive or an array.
    #[must_use]
    pub fn conditions(&self) -> Option<Conditions> {
        let Kind::Single(Single::Real(real, _)) = &self.kind else { return None };
        Some(checks::conditions(Some(real)))
    }
}
