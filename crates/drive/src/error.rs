//! What can go wrong with a target, as kinds a caller can act on and messages a person can act on.
//!
//! Every message is a lowercase fragment: what happened, the likely cause, the next step.

use record::{Cut, ErrorCount};

use crate::refusal::{Refusal, list};

/// Why something could not be done with a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// Something forbids writing to the target; nothing overrides it.
    #[error("{target} will not be written: {}", list(.refusals))]
    Refused {
        /// As given on the command line.
        target: String,
        /// Everything that was found, not only the first.
        refusals: Vec<Refusal>,
    },
    /// Everything on the target would be lost and nobody has said that this is wanted.
    #[error("everything on {target} would be lost{}; to continue, add --erase '{identity}'", given_text(.given))]
    Unconfirmed {
        /// As given on the command line.
        target: String,
        /// What has to be typed.
        identity: String,
        /// What was typed instead.
        given: Option<String>,
    },
    /// The drives that would be erased and those that were named are not the same.
    #[error("{0}")]
    UnconfirmedMembers(String),
    /// More than the target would be erased, and nobody has said that this is wanted.
    #[error("{0}")]
    AlsoErased(String),
    /// The target cannot be used as it is.
    #[error("{0}")]
    Unusable(String),
    /// The target knows no way to be purged.
    #[error("no purge available: {0}")]
    NoPurge(String),
    /// The device failed while it was in use.
    #[error("{what}")]
    Device {
        /// What failed, the likely cause and the next step.
        what: String,
        /// All failed I/Os by kind, those after the first included.
        errors: Vec<ErrorCount>,
        /// What a workload had done until then; none where it was not one, or on a simulated drive
        /// that kept its power.
        cut: Option<Box<Cut>>,
    },
    /// The host was no fit place to measure: suspended, or without a clock.
    #[error("{0}")]
    Disturbed(String),
    /// Somebody asked to stop while it was waited for the end of something; what goes on by itself.
    #[error("{0}")]
    Stopped(String),
    /// What was asked cannot be done on this target.
    #[error("{0}")]
    Invalid(String),
}

/// What a caller can do about a [`DriveError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Refused for safety: nothing was written.
    Refused,
    /// Wrong target, or one in the wrong state: nothing was written.
    Unusable,
    /// The device failed during use.
    Device,
    /// The host was suspended or lost its clock; the device is not to blame, and the same may be asked again.
    Disturbed,
    /// Somebody asked to stop; what was begun may go on.
    Stopped,
    /// The request makes no sense for this target.
    Invalid,
}

impl DriveError {
    /// What a caller can do about it.
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

/// Number, name and likely cause of the errors that block devices answer with.
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

/// The kernel's name of an error number: `EIO`; `errno 999` for those without one here.
pub(crate) fn errno_name(errno: i32) -> String {
    row(errno).map_or_else(|| format!("errno {errno}"), |r| r.1.to_owned())
}

/// What an error number usually means when a block device answers with it.
pub(crate) fn errno_cause(errno: i32) -> &'static str {
    row(errno).map_or("an unusual device error; see the kernel log", |r| r.2)
}

fn row(errno: i32) -> Option<&'static (i32, &'static str, &'static str)> {
    ERRNOS.iter().find(|r| r.0 == errno)
}

/// The reason of a failed system call without Rust's " (os error 5)".
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
