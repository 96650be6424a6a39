//! Errors concerning host settings.

use std::io;
use std::path::PathBuf;

use record::errno::reason;

/// A host setting could not be changed or restored.
#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    /// The setting could not be changed.
    #[error("setting the {setting} to {value} ({}) failed: {}", .path.display(), reason(.source))]
    Write {
        /// Display name of the setting.
        setting: String,
        /// Path of the attribute in `/sys`.
        path: PathBuf,
        /// The requested value.
        value: String,
        /// Why the setting could not be changed.
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
        /// Path of the attribute in `/sys`.
        path: PathBuf,
        /// The requested value.
        value: String,
        /// The actual value.
        shown: String,
    },
    /// A record refers to a setting that must not be restored.
    #[error("the {setting} ({}) is not restored from a record: {why}", .path.display())]
    NotRestored {
        /// Display name of the setting.
        setting: String,
        /// Path of the attribute in `/sys`.
        path: PathBuf,
        /// Why the setting must not be restored.
        why: NotRestored,
    },
}

/// Why a recorded setting is not restored.
#[derive(Debug, thiserror::Error)]
pub enum NotRestored {
    /// The attribute cannot be opened.
    #[error("{}", reason(.0))]
    System(#[from] io::Error),
    /// The attribute is not a file.
    #[error("it is not an attribute")]
    NotAttribute,
    /// The attribute is not in `/sys`.
    #[error("it is not below /sys")]
    NotKernel,
    /// Plateau never changes this setting.
    #[error("it is not a setting that Plateau changes")]
    Unknown,
    /// Plateau never sets this value.
    #[error("it cannot have that value")]
    Value,
}
