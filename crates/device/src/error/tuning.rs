//! Errors of settings of the host.

use std::io;
use std::path::PathBuf;

use record::errno::reason;

/// A setting of the host could not be changed or restored.
#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    /// It could not be changed.
    #[error("setting the {setting} to {value} ({}) failed: {}", .path.display(), reason(.source))]
    Write {
        /// Display name of the setting.
        setting: String,
        /// The attribute in `/sys`.
        path: PathBuf,
        /// The value that it was to have.
        value: String,
        /// Why not.
        source: io::Error,
    },
    /// The kernel ignored the value.
    #[error(
        "setting the {setting} to {value} ({}) failed: the kernel accepted it but still shows {shown}",
        .path.display()
    )]
    Ignored {
        /// Display name of the setting.
        setting: String,
        /// The attribute in `/sys`.
        path: PathBuf,
        /// The value that it was to have.
        value: String,
        /// The value that it has.
        shown: String,
    },
    /// A record names something that must not be restored.
    #[error("the {setting} ({}) is not restored from a record: {why}", .path.display())]
    NotRestored {
        /// Display name of the setting.
        setting: String,
        /// The attribute in `/sys`.
        path: PathBuf,
        /// Why not.
        why: NotRestored,
    },
}

/// Why a recorded setting is not restored.
#[derive(Debug, thiserror::Error)]
pub enum NotRestored {
    /// It cannot be opened.
    #[error("{}", reason(.0))]
    System(#[from] io::Error),
    /// It is not a file.
    #[error("it is not an attribute")]
    NotAttribute,
    /// It is not in `/sys`.
    #[error("it is not in the kernel's tree of settings")]
    NotKernel,
    /// Plateau never changes it.
    #[error("it is not a setting that Plateau changes")]
    Unknown,
    /// Plateau never sets such a value.
    #[error("it cannot have that value")]
    Value,
}
