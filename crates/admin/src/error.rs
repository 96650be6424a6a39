//! Errors from administrative commands, as data. The messages say what happened; the caller adds what to type
//! next.

use std::fmt;

use record::{OtherNamespace, WhyNot};

use crate::fault::Fault;
use crate::wire::nvme::SanitizeState;
use crate::wire::sense::Sense;

/// A command or a sequence of commands failed or is not possible.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The device is no longer the one to be erased or is now in use.
    #[error(transparent)]
    Recheck(Box<dyn std::error::Error + Send + Sync>),
    /// No purge method has the given name.
    #[error("unknown purge method '{name}'")]
    UnknownMethod {
        /// The name.
        name: String,
        /// Methods with similar names.
        meant: Vec<&'static str>,
    },
    /// The device supports no method that Plateau implements.
    #[error("no purge available: the drive supports no purge method that Plateau implements")]
    NoMethod {
        /// Methods that the device may support, and why each was skipped.
        passed_over: Vec<PassedOver>,
    },
    /// The device does not support the requested method.
    #[error("no purge available: {method}: {why}")]
    Unavailable {
        /// Name of the method.
        method: &'static str,
        /// Why the device does not support it.
        why: WhyNot,
    },
    /// The method would also erase other data, and this was not confirmed.
    #[error("{method}: {}", WhyNot::ErasesOthers(.others.clone()))]
    AlsoErased {
        /// Name of the method.
        method: &'static str,
        /// The other namespaces that would be erased and were not confirmed.
        others: Vec<OtherNamespace>,
    },
    /// The device does not support the requested LBA format.
    #[error(transparent)]
    LbaFormat(#[from] LbaFormatError),
    /// A command failed.
    #[error("{step} failed: {fault}")]
    Command {
        /// The attempted step.
        step: Step,
        /// Why the command failed.
        fault: Fault,
    },
    /// Plateau stopped waiting for a step that the device completes on its own.
    #[error("stopped waiting for {0}, which the drive continues on its own")]
    StoppedWaiting(Step),
    /// Writing was stopped before it was complete.
    #[error("stopped after {bytes} of {all} bytes; the remaining bytes are unchanged")]
    StoppedWriting {
        /// Bytes written.
        bytes: u64,
        /// Number of bytes to write.
        all: u64,
    },
    /// The device accepted a command but did something else, or failed later.
    #[error(transparent)]
    Drive(#[from] DriveFault),
}

impl Fault {
    /// Converts the fault into an error that names the attempted step.
    #[must_use]
    pub fn during(self, step: Step) -> AdminError {
        AdminError::Command { step, fault: self }
    }
}

/// A method that was not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// Label of the method.
    pub method: &'static str,
    /// Why the method was not used.
    pub why: WhyNot,
}

/// Why a namespace cannot be formatted with an LBA format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LbaFormatError {
    /// The device is not an NVMe namespace.
    #[error("only NVMe namespaces have a choice of LBA formats")]
    NotNvme,
    /// The drive does not support Format NVM.
    #[error("the drive does not support Format NVM, so its LBA format cannot be changed")]
    NoFormatCommand,
    /// A format would affect all namespaces.
    #[error("a format would affect all namespaces of this drive, including {}", .others.join(", "))]
    AffectsOthers {
        /// Kernel names of the other namespaces.
        others: Vec<String>,
    },
    /// The drive does not offer the requested format.
    #[error("the drive has no LBA format {format} without metadata; it has {}", formats(.known))]
    Unknown {
        /// The requested format.
        format: u8,
        /// Numbers and block sizes of the available formats.
        known: Vec<(u8, u64)>,
    },
}

fn formats(known: &[(u8, u64)]) -> String {
    let known: Vec<String> = known.iter().map(|(number, bytes)| format!("{number} ({bytes} B)")).collect();
    known.join(", ")
}

/// A step in a purge or another change, named as in the specification of the command set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// NVMe Format that erases the namespace.
    Format,
    /// NVMe Format that changes the LBA format.
    ChangeFormat,
    /// NVMe Identify after the format.
    IdentifyAfterFormat,
    /// NVMe Sanitize.
    Sanitize,
    /// NVMe log page for sanitize operations.
    SanitizeLog,
    /// ATA IDENTIFY DEVICE.
    AtaIdentify,
    /// ATA SECURITY UNLOCK.
    SecurityUnlock,
    /// ATA SECURITY SET PASSWORD.
    SecuritySetPassword,
    /// ATA SECURITY ERASE UNIT.
    SecurityErase,
    /// ATA SANITIZE DEVICE.
    AtaSanitize,
    /// ATA SANITIZE STATUS EXT.
    AtaSanitizeStatus,
    /// SCSI FORMAT UNIT.
    FormatUnit,
    /// SCSI SANITIZE.
    ScsiSanitize,
    /// SCSI TEST UNIT READY.
    TestUnitReady,
    /// Discarding the whole device.
    Discard,
    /// Writing zeroes at this byte offset.
    WriteZeroes(u64),
    /// Writing a sample at this byte offset.
    WriteSample(u64),
    /// Reading back the sample at this byte offset.
    ReadSample(u64),
    /// Querying the write cache.
    GetWriteCache,
    /// Turning the write cache on or off.
    SetWriteCache(bool),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format | Self::ChangeFormat => "Format NVM",
            Self::IdentifyAfterFormat => "Identify after the format",
            Self::Sanitize => "Sanitize",
            Self::SanitizeLog => "reading the sanitize log",
            Self::AtaIdentify => "IDENTIFY DEVICE",
            Self::SecurityUnlock => "SECURITY UNLOCK",
            Self::SecuritySetPassword => "SECURITY SET PASSWORD",
            Self::SecurityErase => "SECURITY ERASE UNIT",
            Self::AtaSanitize => "SANITIZE DEVICE",
            Self::AtaSanitizeStatus => "SANITIZE STATUS EXT",
            Self::FormatUnit => "FORMAT UNIT",
            Self::ScsiSanitize => "SANITIZE",
            Self::TestUnitReady => "TEST UNIT READY",
            Self::Discard => "discard",
            Self::GetWriteCache => "querying the write cache",
            Self::SetWriteCache(true) => "turning the write cache on",
            Self::SetWriteCache(false) => "turning the write cache off",
            Self::WriteZeroes(at) => return write!(f, "writing zeroes at byte {at}"),
            Self::WriteSample(at) => return write!(f, "writing a sample at byte {at}"),
            Self::ReadSample(at) => return write!(f, "reading back a sample at byte {at}"),
        })
    }
}

/// How a device deviated from a command that it accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DriveFault {
    /// The LBA format was not changed.
    #[error("the drive accepted Format NVM with LBA format {requested} but still has format {kept}")]
    LbaFormatKept {
        /// The requested format.
        requested: u8,
        /// The unchanged format.
        kept: u8,
    },
    /// A format changed the namespace's size or LBA format, which it should have kept.
    #[error(
        "Format NVM changed the namespace from {} blocks of format {} to {} blocks of format {}",
        .was.0, .was.1, .is.0, .is.1
    )]
    NamespaceChanged {
        /// Number of blocks and LBA format before the command.
        was: (u64, u8),
        /// Number of blocks and LBA format after the command.
        is: (u64, u8),
    },
    /// The write cache was not changed.
    #[error("the drive accepted the command to turn its write cache {}, but the cache is unchanged", if *.on { "on" } else { "off" })]
    WriteCacheKept {
        /// Whether the cache was to be turned on.
        on: bool,
    },
    /// A security erase cannot start.
    #[error("SECURITY ERASE UNIT cannot start: {0}")]
    CannotErase(WhyNot),
    /// The drive accepted a password but did not set it, so the drive cannot be erased.
    #[error("the drive or its adapter accepted a password without setting it, so an erase would do nothing")]
    PasswordNotSet,
    /// The password survived the erase.
    #[error("the drive reports success, but its password is still set, so nothing was erased")]
    PasswordLeft,
    /// The host firmware (BIOS or UEFI) has frozen sanitize operations.
    #[error("this computer's firmware has frozen SANITIZE")]
    SanitizeFrozen,
    /// A sanitize operation is already in progress.
    #[error("a sanitize operation started by another program is running on this drive")]
    SanitizeRunning,
    /// An ATA sanitize operation failed.
    #[error("SANITIZE failed; another sanitize operation is needed to recover the drive")]
    AtaSanitizeFailed,
    /// An NVMe sanitize operation failed.
    #[error(
        "the drive's log reports that the sanitize operation failed; another one is needed to recover the drive"
    )]
    SanitizeFailed,
    /// A SCSI format or sanitize operation failed.
    #[error("{}; the drive may not recover until the same command succeeds", .0.text())]
    ScsiFailed(Sense),
    /// The log contains no sanitize operation.
    #[error("the drive accepted the sanitize command, but its log reports no such operation ({0:?})")]
    NoSanitize(SanitizeState),
    /// The log contains a different sanitize operation.
    #[error(
        "the sanitize log reports another command ({found:08x}h) instead of the requested command ({requested:08x}h), \
         which the drive therefore did not perform"
    )]
    OtherSanitize {
        /// Command dword 10 in the log.
        found: u32,
        /// Dword 10 of the requested command.
        requested: u32,
    },
    /// A step did not complete in time.
    #[error("{step} has not completed after {hours} hours, so the drive is hung")]
    Hangs {
        /// The step.
        step: Step,
        /// Time that Plateau waited for the step.
        hours: u64,
    },
    /// A sample was lost before the purge.
    #[error("the sample at byte {0} did not read back as written: the drive does not retain data")]
    SampleLost(u64),
    /// A sample survived the purge.
    #[error(
        "the purge reported success, but the sample that had been written at byte {0} is still there: the drive was not \
         purged"
    )]
    SampleSurvived(u64),
}
