//! Errors concerning targets, as data; callers act on their [`kind`](DriveError::kind).
//!
//! Messages say what happened and why, but not what to type next, because that depends on the program.

pub(crate) mod array;
pub(crate) mod confirm;
pub(crate) mod description;
pub(crate) mod kind;
pub(crate) mod simulated;
pub(crate) mod target;
pub(crate) mod tuning;
pub(crate) mod volume;

use std::io;
use std::path::PathBuf;

use admin::AdminError;
use engine::EngineError;
use record::errno::reason;
use record::{Cut, ErrorCount, Workload};

use crate::refusal::{Refusal, list};
use array::ArrayError;
use confirm::Unconfirmed;
pub use kind::ErrorKind;
use simulated::SimulatedFailure;
use target::TargetError;
use tuning::TuningError;

/// An operation on a target failed.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Writing to the target is not allowed; no option overrides this.
    #[error("refusing to write to {target}: {}", list(.refusals))]
    Refused {
        /// Target as given on the command line.
        target: String,
        /// All refusals found, not only the first.
        refusals: Vec<Refusal>,
    },
    /// Data would be lost, and this was not confirmed.
    #[error(transparent)]
    Unconfirmed(#[from] Unconfirmed),
    /// The target cannot be used, either at all or in the requested way.
    #[error("{target}: {problem}")]
    Target {
        /// Target as given on the command line.
        target: String,
        /// What is wrong with the target or the request.
        problem: TargetError,
    },
    /// The target does not support the workload.
    #[error("workload {workload}: {problem}")]
    Workload {
        /// The workload.
        workload: Box<Workload>,
        /// Why the workload is not supported.
        problem: WorkloadProblem,
    },
    /// Several workloads together have more I/Os in flight than a simulated drive supports.
    #[error("{outstanding} outstanding I/Os on a simulated drive; at most {most} are supported")]
    TooManyInFlight {
        /// I/Os in flight in all workloads combined.
        outstanding: u32,
        /// Supported number.
        most: u32,
    },
    /// The target does not support the requested purge.
    #[error(transparent)]
    Purge(#[from] PurgeError),
    /// An array or the program that creates it failed or is in an unexpected state.
    #[error(transparent)]
    Array(Box<ArrayError>),
    /// An array could not be created, and dismantling it also failed.
    #[error("{error}; dismantling the array also failed: {dismantling}")]
    NotDismantled {
        /// The first error.
        error: Box<DriveError>,
        /// The error during dismantling.
        dismantling: Box<DriveError>,
    },
    /// An array left by an earlier run could not be dismantled.
    #[error("an array left by an earlier run cannot be dismantled: {error}; it is described in {}", .note.display())]
    LeftOver {
        /// Why the array could not be dismantled.
        error: Box<DriveError>,
        /// The record of the array.
        note: PathBuf,
    },
    /// Purging a member of an array failed.
    #[error("{path}: {error}")]
    Member {
        /// The member.
        path: String,
        /// The error from the member's purge.
        error: Box<DriveError>,
    },
    /// A host setting could not be changed or restored.
    #[error(transparent)]
    Tuning(#[from] TuningError),
    /// Another user started to use the target during a test.
    #[error("something started to use {target} during the test: {user}")]
    CameIntoUse {
        /// Target as given on the command line.
        target: String,
        /// The new user of the target.
        user: Refusal,
    },
    /// After a format, the device no longer responds, or its device node now refers to a different device.
    #[error("{target}: {}", reason(.source))]
    Gone {
        /// Target as given on the command line.
        target: String,
        /// The error of the system call that failed.
        source: io::Error,
    },
    /// Information from the operating system could not be read.
    #[error("{path} cannot be read: {}", reason(.source))]
    System {
        /// The file or interface.
        path: &'static str,
        /// The operating system's error.
        source: io::Error,
    },
    /// The users of this host's block devices could not be determined.
    #[error("{}", reason(.0))]
    Usage(#[source] io::Error),
    /// A simulated drive failed.
    #[error(transparent)]
    Simulated(Box<SimulatedFailure>),
    /// An administrative command failed or is not possible.
    #[error(transparent)]
    Admin(AdminError),
    /// A load failed or is impossible.
    #[error(transparent)]
    Load(#[from] EngineError),
}

/// Why a target does not support a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadProblem {
    /// More commands would be in flight than a simulated drive accepts.
    #[error(
        "TC {threads} x QD {queue_depth} exceeds the number of commands that a simulated drive accepts; use a QD \
         of up to {most}"
    )]
    TooManyInFlight {
        /// Number of threads.
        threads: u16,
        /// Queue depth of each thread.
        queue_depth: u16,
        /// Maximum queue depth for this number of threads.
        most: u32,
    },
    /// The caller would ignore the verification results.
    #[error("verification is not possible here")]
    Unverified,
}

/// Why a target cannot be purged as requested.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// A file has a single purge method, which cannot be verified.
    #[error("a file is purged by punching a hole in it, which cannot be verified")]
    OptionsForFile,
    /// The file system cannot punch holes.
    #[error("no purge available: the file system of {file} does not support punching holes")]
    NoHoles {
        /// The file.
        file: String,
    },
    /// A hole could not be punched.
    #[error("punching a hole in {file} failed: {}", reason(.source))]
    Hole {
        /// The file.
        file: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// A simulated drive stores no data to search for.
    #[error("a simulated drive stores no data that could be searched for after a purge")]
    SimulatedVerification,
    /// A simulated drive does not support the requested method.
    #[error("no purge available: {name}: a simulated drive with this interface supports {}", .supported.join(", "))]
    NotSimulated {
        /// Name of the method.
        name: String,
        /// Names of the supported methods.
        supported: Vec<&'static str>,
    },
    /// A simulated drive does not support the method in the journal.
    #[error("no purge available: the simulated drive does not support the purge method '{0}'")]
    NotRecorded(String),
    /// Drives on a RAID controller are purged as specified in the array description.
    #[error(
        "drives on a RAID controller are purged by the method in the array description, and cannot be read to verify \
         that"
    )]
    OptionsForController,
}

impl DriveError {
    /// Returns the class of this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused { refusals, .. } if refusals.iter().all(|r| !r.protects_data()) => {
                ErrorKind::Unusable
            }
            Self::Refused { .. } | Self::Unconfirmed(_) => ErrorKind::Refused,
            Self::Target { problem, .. } => problem.kind(),
            Self::Workload { .. } | Self::TooManyInFlight { .. } => ErrorKind::Invalid,
            Self::Purge(error) => kind_of_purge(error),
            Self::Array(error) => error.kind(),
            Self::NotDismantled { .. }
            | Self::Member { .. }
            | Self::CameIntoUse { .. }
            | Self::Gone { .. }
            | Self::Simulated(_) => ErrorKind::Device,
            Self::LeftOver { .. } | Self::Tuning(_) | Self::System { .. } | Self::Usage(_) => {
                ErrorKind::Unusable
            }
            Self::Admin(error) => kind_of_admin(error),
            Self::Load(error) => kind_of_load(error),
        }
    }

    /// Returns all failed I/Os by kind; empty if no load was running when the device failed.
    #[must_use]
    pub fn errors(&self) -> &[ErrorCount] {
        match self {
            Self::Simulated(failure) => &failure.errors,
            Self::Load(EngineError::Io(failure)) => &failure.errors,
            _ => &[],
        }
    }

    /// Takes the measurements made before the device failed.
    pub fn take_cut(&mut self) -> Option<Box<Cut>> {
        match self {
            Self::Simulated(failure) => failure.cut.take(),
            Self::Load(EngineError::Io(failure)) => failure.cut.take(),
            _ => None,
        }
    }

    /// Returns an error of the target with this name.
    pub fn target(target: &str, problem: impl Into<TargetError>) -> Self {
        Self::Target { target: target.to_owned(), problem: problem.into() }
    }
}

fn kind_of_purge(error: &PurgeError) -> ErrorKind {
    match error {
        PurgeError::OptionsForFile | PurgeError::SimulatedVerification | PurgeError::OptionsForController => {
            ErrorKind::Invalid
        }
        PurgeError::NoHoles { .. } | PurgeError::NotSimulated { .. } | PurgeError::NotRecorded(_) => {
            ErrorKind::Unusable
        }
        PurgeError::Hole { .. } => ErrorKind::Device,
    }
}

fn kind_of_admin(error: &AdminError) -> ErrorKind {
    match error {
        AdminError::AlsoErased { .. } => ErrorKind::Refused,
        AdminError::Recheck(_) | AdminError::NoMethod { .. } | AdminError::Unavailable { .. } => {
            ErrorKind::Unusable
        }
        AdminError::Command { .. } | AdminError::Drive(_) => ErrorKind::Device,
        AdminError::StoppedWaiting(_) | AdminError::StoppedWriting { .. } => ErrorKind::Stopped,
        AdminError::UnknownMethod { .. } | AdminError::LbaFormat(_) => ErrorKind::Invalid,
    }
}

fn kind_of_load(error: &EngineError) -> ErrorKind {
    match error {
        EngineError::Setup { .. } | EngineError::SetupWithoutTarget { .. } => ErrorKind::Unusable,
        EngineError::ReadBackMemory(_) | EngineError::WorkloadThread(_) => ErrorKind::Unusable,
        EngineError::Io(_) | EngineError::Wait { .. } => ErrorKind::Device,
        EngineError::Disturbed { .. } | EngineError::ReplayDisturbed { .. } => ErrorKind::Disturbed,
        EngineError::TooDeep { .. }
        | EngineError::VerifiedRangeShared { .. }
        | EngineError::Unverifiable { .. } => ErrorKind::Invalid,
        EngineError::NoTrim { .. } | EngineError::NotAtomic { .. } | EngineError::NotZoned { .. } => {
            ErrorKind::Invalid
        }
        EngineError::Priority { .. } | EngineError::NoCommands { .. } => ErrorKind::Invalid,
        EngineError::Placement(_) | EngineError::Misfit { .. } => ErrorKind::Invalid,
        EngineError::Workload(_) | EngineError::NoInterval | EngineError::NothingToVerify => {
            ErrorKind::Invalid
        }
    }
}

impl From<AdminError> for DriveError {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Recheck(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(other) => Self::Admin(AdminError::Recheck(other)),
            },
            other => Self::Admin(other),
        }
    }
}

impl From<ArrayError> for DriveError {
    fn from(error: ArrayError) -> Self {
        Self::Array(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use admin::Step;
    use record::OtherNamespace;

    use super::*;

    #[test]
    fn refusals_that_protect_no_data_make_a_target_unusable() {
        let refused = |refusals| DriveError::Refused { target: "t".into(), refusals }.kind();
        assert_eq!(refused(vec![Refusal::ReadOnly]), ErrorKind::Unusable);
        assert_eq!(refused(vec![Refusal::ReadOnly, Refusal::Busy]), ErrorKind::Refused);
    }

    #[test]
    fn errors_of_commands_keep_their_kind() {
        let others = vec![OtherNamespace { name: "nvme0n2".into(), identity: "S1:n2".into() }];
        for (error, kind) in [
            (AdminError::AlsoErased { method: "discard", others }, ErrorKind::Refused),
            (AdminError::StoppedWaiting(Step::Sanitize), ErrorKind::Stopped),
            (AdminError::UnknownMethod { name: "x".into(), meant: Vec::new() }, ErrorKind::Invalid),
            (AdminError::NoMethod { passed_over: Vec::new() }, ErrorKind::Unusable),
        ] {
            assert_eq!(DriveError::from(error).kind(), kind);
        }
        let refused = DriveError::Refused { target: "t".into(), refusals: vec![Refusal::Busy] };
        let again = DriveError::from(AdminError::Recheck(refused.into()));
        assert!(matches!(again, DriveError::Refused { .. }), "what was found on the open target: {again:?}");
    }
}
