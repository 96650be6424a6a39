//! The reasons why a purge method is not used for a drive.

use serde::{Deserialize, Serialize};

/// Another namespace on the same drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherNamespace {
    /// Kernel name.
    pub name: String,
    /// The identity to type as confirmation that its data may be lost.
    pub identity: String,
}

/// The reason why a purge method is not used by default or cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WhyNot {
    /// The drive does not report support for the method.
    #[error("the drive does not report support for this")]
    NotReported,
    /// The drive does not report whether it supports the method.
    #[error("the drive does not report whether it supports this")]
    Unreported,
    /// The method requires another interface.
    #[error("the drive has a different interface")]
    OtherInterface,
    /// The kernel does not support discards on this device.
    #[error("the device does not support discard")]
    NoDiscard,
    /// The kernel does not support commands that write zeroes on this device.
    #[error("the device has no command to write zeroes")]
    NoWriteZeroes,
    /// An ATA password locks the drive.
    #[error("the drive is locked with a password")]
    Locked,
    /// The computer's firmware does not permit ATA security commands.
    #[error("this computer's firmware has frozen the drive's security settings")]
    Frozen,
    /// The drive accepts no further ATA password until it is power-cycled.
    #[error("the drive has received too many wrong passwords")]
    TooManyPasswords,
    /// An ATA password is set.
    #[error("a password is set on the drive; the method works only if an interrupted Plateau purge set it")]
    PasswordSet,
    /// The drive could not be queried; the text is the reason.
    #[error("{0}")]
    Unqueried(String),
    /// The method would also erase other namespaces.
    #[error("it would also erase {}", names(.0))]
    ErasesOthers(Vec<OtherNamespace>),
}

fn names(others: &[OtherNamespace]) -> String {
    let names: Vec<String> =
        others.iter().map(|other| format!("{} ('{}')", other.name, other.identity)).collect();
    names.join(", ")
}
