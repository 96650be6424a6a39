//! Errors of targets: their kinds are for callers to act on, their messages for people.
//!
//! Every message is a lowercase fragment: what happened, the likely cause, the next step.

use admin::AdminError;
use engine::EngineError;
use record::{Cut, ErrorCount};

use crate::refusal::{Refusal, list};

/// An operation on a target failed.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Writing to the target is forbidden; no option overrides this.
    #[error("{target} will not be written: {}", list(.refusals))]
    Refused {
        /// Target as given on the command line.
        target: String,
        /// All refusals found, not only the first.
        refusals: Vec<Refusal>,
    },
    /// All data on the target would be lost, and the erasure was not confirmed.
    #[error("everything on {target} would be lost{}; to continue, add --erase '{identity}'", given_text(.given))]
    Unconfirmed {
        /// Target as given on the command line.
        target: String,
        /// Identity to confirm with.
        identity: String,
        /// The identity that was given instead.
        given: Option<String>,
    },
    /// The drives to be erased differ from those that were named.
    #[error("{0}")]
    UnconfirmedMembers(String),
    /// More than the target would be erased, and this was not confirmed.
    #[error("{0}")]
    AlsoErased(String),
    /// The target is unusable in its present state.
    #[error("{0}")]
    Unusable(String),
    /// The target does not support any purge.
    #[error("no purge available: {0}")]
    NoPurge(String),
    /// The device failed during use.
    #[error("{what}")]
    Device {
        /// What failed, the likely cause and the next step.
        what: String,
        /// All failed I/Os by kind, including those after the first.
        errors: Vec<ErrorCount>,
        /// What a workload had measured before the failure. `None` if no workload was running, and for a
        /// simulated drive that failed without losing power.
        cut: Option<Box<Cut>>,
    },
    /// The host disturbed the measurement: it was suspended, or its clock failed.
    #[error("{0}")]
    Disturbed(String),
    /// Cancelled while waiting for a device operation, which continues on its own.
    #[error("{0}")]
    Stopped(String),
    /// The target does not support the request.
    #[error("{0}")]
    Invalid(String),
    /// A load failed, or is impossible.
    #[error(transparent)]
    Load(#[from] EngineError),
}

/// Classes of [`DriveError`], by how a caller can react to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Refused for safety: nothing was written.
    Refused,
    /// Wrong target, or a target in the wrong state: nothing was written.
    Unusable,
    /// The device failed during use.
    Device,
    /// The host was suspended or lost its clock. The device is not at fault; the request may be repeated.
    Disturbed,
    /// Cancelled; an operation already started may continue.
    Stopped,
    /// The request is not valid for this target.
    Invalid,
}

impl DriveError {
    /// Returns the class of this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused { refusals, .. } if refusals.iter().all(|r| !r.protects_data()) => {
                ErrorKind::Unusable
            }
            Self::Refused { .. } | Self::Unconfirmed { .. } => ErrorKind::Refused,
            Self::UnconfirmedMembers(_) | Self::AlsoErased(_) => ErrorKind::Refused,
            Self::Unusable(_) | Self::NoPurge(_) => ErrorKind::Unusable,
            Self::Device { .. } => ErrorKind::Device,
            Self::Disturbed(_) => ErrorKind::Disturbed,
            Self::Stopped(_) => ErrorKind::Stopped,
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::Load(error) => kind_of_load(error),
        }
    }

    /// Returns all failed I/Os by kind; empty if the device did not fail during a load.
    #[must_use]
    pub fn errors(&self) -> &[ErrorCount] {
        match self {
            Self::Device { errors, .. } => errors,
            Self::Load(EngineError::Io(failure)) => &failure.errors,
            _ => &[],
        }
    }

    /// Takes what a workload had measured before the device failed.
    pub fn take_cut(&mut self) -> Option<Box<Cut>> {
        match self {
            Self::Device { cut, .. } => cut.take(),
            Self::Load(EngineError::Io(failure)) => failure.cut.take(),
            _ => None,
        }
    }

    pub(crate) fn device(what: impl Into<String>) -> Self {
        Self::Device { what: what.into(), errors: Vec::new(), cut: None }
    }
}

fn given_text(given: &Option<String>) -> String {
    given.as_ref().map_or_else(String::new, |text| format!(" and '{text}' is not its identity"))
}

fn kind_of_load(error: &EngineError) -> ErrorKind {
    match error {
        EngineError::Setup { .. } | EngineError::SetupWithoutTarget { .. } => ErrorKind::Unusable,
        EngineError::ReadBackMemory(_) | EngineError::WorkloadThread(_) => ErrorKind::Unusable,
        EngineError::Io(_) | EngineError::Wait { .. } => ErrorKind::Device,
        EngineError::Disturbed { .. } => ErrorKind::Disturbed,
        EngineError::TooDeep { .. } | EngineError::VerifiedRangeShared { .. } => ErrorKind::Invalid,
        EngineError::Placement(_) | EngineError::Workload(_) => ErrorKind::Invalid,
        EngineError::NoInterval | EngineError::NothingToVerify => ErrorKind::Invalid,
    }
}

impl From<AdminError> for DriveError {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Recheck(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(other) => Self::Unusable(other.to_string()),
            },
            AdminError::NoPurge(what) => Self::NoPurge(what),
            AdminError::AlsoErased(what) => Self::AlsoErased(what),
            AdminError::Device(what) => Self::device(what),
            AdminError::Stopped(what) => Self::Stopped(what),
            AdminError::Invalid(what) => Self::Invalid(what),
        }
    }
}
