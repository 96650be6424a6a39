//! Errors of targets: kinds that a caller can act on, and messages that a person can act on.
//!
//! Every message is a lowercase fragment: what happened, the likely cause, the next step.

use record::{Cut, ErrorCount};

use crate::refusal::{Refusal, list};

/// An operation on a target failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
        /// What was given instead.
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
    /// Cancelled while waiting for a device operation, which continues by itself.
    #[error("{0}")]
    Stopped(String),
    /// The target does not support the request.
    #[error("{0}")]
    Invalid(String),
}

/// Classes of [`DriveError`], by what a caller can do about them.
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
        }
    }

    pub(crate) fn device(what: impl Into<String>) -> Self {
        Self::Device { what: what.into(), errors: Vec::new(), cut: None }
    }
}

fn given_text(given: &Option<String>) -> String {
    given.as_ref().map_or_else(String::new, |text| format!(" and '{text}' is not its identity"))
}

/// Number, name and likely cause of errors that block devices return.
const ERRNOS: &[(i32, &str, &str)] = &[
    (libc::EIO, "EIO", "the device, its cable or its driver failed; see the kernel log"),
    (libc::ENODATA, "ENODATA", "a medium error: the device cannot read this block"),
    (libc::ENOSPC, "ENOSPC", "the device vanished, or the file system under it is full"),
    (libc::ENODEV, "ENODEV", "the device was removed"),
    (libc::ENXIO, "ENXIO", "the device was removed"),
    (libc::EREMOTEIO, "EREMOTEIO", "the device reported an internal failure"),
    (libc::ETIMEDOUT, "ETIMEDOUT", "the device did not answer in time"),
    (libc::ENOLINK, "ENOLINK", "the path to the device was lost"),
    (libc::EBADE, "EBADE", "another host has reserved the device"),
    (libc::EILSEQ, "EILSEQ", "protection information did not match"),
    (libc::EROFS, "EROFS", "the device became read-only"),
    (libc::EPERM, "EPERM", "the kernel denies it, perhaps because the device is read-only"),
    (libc::EACCES, "EACCES", "no permission"),
    (libc::EINVAL, "EINVAL", "the device does not support I/Os of this size or alignment"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP", "the device does not support this command"),
    (libc::ENOMEM, "ENOMEM", "the host is out of memory"),
    (libc::EAGAIN, "EAGAIN", "the kernel kept requesting a retry"),
    (libc::EINTR, "EINTR", "interrupted again and again"),
    (libc::EBUSY, "EBUSY", "the device is in use"),
    (libc::EDQUOT, "EDQUOT", "the disk quota is used up"),
    (libc::EFBIG, "EFBIG", "the file system does not support files this large"),
    (libc::ENOTCONN, "ENOTCONN", "the file system's server is gone"),
    (libc::ESTALE, "ESTALE", "the file system's server is gone"),
];

/// Returns the name of an error number, such as `EIO`; `errno 999` for one that is not listed here.
pub(crate) fn errno_name(errno: i32) -> String {
    row(errno).map_or_else(|| format!("errno {errno}"), |r| r.1.to_owned())
}

/// Returns the usual cause of an error number from a block device.
pub(crate) fn errno_cause(errno: i32) -> &'static str {
    row(errno).map_or("an unusual device error; see the kernel log", |r| r.2)
}

fn row(errno: i32) -> Option<&'static (i32, &'static str, &'static str)> {
    ERRNOS.iter().find(|r| r.0 == errno)
}

/// Returns the text of a failed system call without Rust's " (os error 5)".
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
