//! Errors concerning arrays and the programs that create them.

use std::fmt;
use std::io;
use std::path::PathBuf;

use record::errno::reason;

use super::kind::ErrorKind;
use super::volume::VolumeError;
use crate::refusal::Refusal;

/// An array or the program that creates it failed or is in an unexpected state.
#[derive(Debug, thiserror::Error)]
pub enum ArrayError {
    /// A program cannot be run.
    #[error("{program} cannot be run: {}", reason(.source))]
    Program {
        /// Name of the program.
        program: &'static str,
        /// Why the program cannot be run.
        source: io::Error,
    },
    /// No program for RAID controllers is installed.
    #[error("none of {} found", .0.join(", "))]
    NoProgram(&'static [&'static str]),
    /// The output of a program cannot be parsed.
    #[error("{program} {arguments} printed an unreadable response ({problem}): {printed}")]
    Response {
        /// The program.
        program: &'static str,
        /// Arguments of the program.
        arguments: String,
        /// What is wrong with the output.
        problem: String,
        /// The last line that the program printed.
        printed: String,
    },
    /// An operation of `mdadm` on an array or a member failed.
    #[error("{step} failed: {printed}")]
    Mdadm {
        /// The attempted operation.
        step: MdadmStep,
        /// The last line that `mdadm` printed.
        printed: String,
    },
    /// `mdadm` did not create the array.
    #[error(
        "mdadm could not create {node}: {printed}; the kernel needs the module raid{}, and its log may say more",
        if [5, 6].contains(.level) { "456".to_owned() } else { .level.to_string() }
    )]
    NotCreated {
        /// Node of the array.
        node: String,
        /// RAID level.
        level: u8,
        /// The last line that `mdadm` printed.
        printed: String,
    },
    /// A command to a RAID controller failed.
    #[error(transparent)]
    Command(Box<ControllerFailure>),
    /// The kernel provides no identifier for a new array.
    #[error("cannot create an array: {}", reason(.0))]
    NoIdentifier(#[source] io::Error),
    /// All array numbers are in use.
    #[error("all array numbers are in use")]
    NoNumber,
    /// The record for dismantling an array cannot be written.
    #[error(
        "{}: {}; without this record, a crash would leave the array in place, so it is not created",
        .path.display(), reason(.source)
    )]
    Note {
        /// Path of the record.
        path: PathBuf,
        /// Why the record cannot be written.
        source: io::Error,
    },
    /// The array does not exist.
    #[error("there was no array")]
    Absent,
    /// The target to dismantle is not an array.
    #[error("only an array of drives can be dismantled")]
    NotArray,
    /// The members of a software RAID are not purged by `mdadm`.
    #[error("members of a software RAID are purged as drives")]
    PurgedAsDrives,
    /// No RAID controller is specified.
    #[error("no RAID controller is specified")]
    NoController,
    /// A background operation of the array is in progress.
    #[error("{target}: a {operation} of the array is in progress, so it cannot be measured")]
    Syncing {
        /// Target as given on the command line.
        target: String,
        /// The operation, as named by the kernel or the controller.
        operation: String,
    },
    /// The array is no longer intact.
    #[error("{target}: the array is no longer intact: {defect}")]
    Broken {
        /// Target as given on the command line.
        target: String,
        /// The defect.
        defect: Defect,
    },
    /// The array consists of devices other than the planned ones.
    #[error("{node} consists of {} instead of {}", .found.join(", "), .planned.join(", "))]
    Composition {
        /// Device node of the array.
        node: String,
        /// Kernel names of the actual members.
        found: Vec<String>,
        /// Kernel names of the planned members.
        planned: Vec<String>,
    },
    /// A member still contains metadata of the array.
    #[error("{path} ({identity}): {refusal}")]
    NotClear {
        /// Path of the member.
        path: String,
        /// Identity of the member.
        identity: String,
        /// Description of the remaining metadata.
        refusal: Box<Refusal>,
    },
    /// Members cannot be found.
    #[error("{} cannot be found and may still contain RAID metadata", .0.join(", "))]
    MembersLost(Vec<String>),
    /// The path of a member refers to a different drive.
    #[error(
        "{path} is no longer the member that was found: it was {} of {} B, but is now {} of {} B",
        .was.0, .was.1, .is.0, .is.1
    )]
    MemberChanged {
        /// Path of the member.
        path: String,
        /// Previous identity and capacity.
        was: (String, u64),
        /// Current identity and capacity.
        is: (String, u64),
    },
    /// A member is not a block device.
    #[error("{0} is not a block device")]
    NotBlock(String),
    /// The controller reports too little about a drive.
    #[error("{address}: the controller does not report state, size and sectors of this drive")]
    DriveUnreported {
        /// Address of the drive.
        address: String,
        /// The controller's program.
        program: &'static str,
    },
    /// The slot contains a different drive.
    #[error(
        "{address} contains the drive {} instead of {serial}; nothing was touched",
        .found.as_deref().unwrap_or("without a serial number")
    )]
    OtherDrive {
        /// The address.
        address: String,
        /// Serial number of the drive in the slot, if reported.
        found: Option<String>,
        /// Serial number from the description.
        serial: String,
    },
    /// A drive does not support cryptographic erase.
    #[error("the controller reports that the drive {address} ({serial}) has no cryptographic erase")]
    NoCryptoErase {
        /// Address of the drive.
        address: String,
        /// Serial number of the drive.
        serial: String,
    },
    /// Erasing a drive failed.
    #[error("erasing {address} ended with the status '{status}'")]
    EraseFailed {
        /// Address of the drive.
        address: String,
        /// Status as reported.
        status: String,
    },
    /// The controller does not report the progress of an erase.
    #[error("the controller does not report the erase progress of {0}")]
    EraseUnreported(String),
    /// An erase does not complete.
    #[error("the controller has been erasing the drives for a week and has not finished")]
    EraseHangs,
    /// Plateau stopped waiting for an erase.
    #[error("stopped waiting for the erase, which the controller continues on its own: {}", .members.join(", "))]
    EraseContinues {
        /// The controller's program.
        program: &'static str,
        /// Addresses of the drives.
        members: Vec<String>,
    },
    /// A volume on the controller is in an unexpected state.
    #[error(transparent)]
    Volume(#[from] VolumeError),
}

/// Why an array is no longer intact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// It was dismantled.
    #[error("it has been dismantled")]
    Dismantled,
    /// The state reported by the kernel.
    #[error("it is {0}")]
    State(String),
    /// Members failed.
    #[error("it is degraded: {missing} of its members failed")]
    Degraded {
        /// Number of failed members, as reported by the kernel.
        missing: String,
    },
    /// The volume of the array no longer exists.
    #[error("the volume no longer exists")]
    VolumeGone,
    /// The controller reports the volume in this state.
    #[error("the controller reports it as {0}")]
    VolumeState(String),
    /// The controller reports a drive in this state.
    #[error("the drive in slot {slot} is {state}")]
    DriveState {
        /// Slot of the drive.
        slot: String,
        /// State of the drive.
        state: String,
    },
    /// Drives are missing.
    #[error("it has only {left} of its {all} drives")]
    DrivesMissing {
        /// Number of remaining drives.
        left: usize,
        /// Number of members.
        all: usize,
    },
    /// A background operation failed or is in an unknown state.
    #[error("its {operation} is '{status}'")]
    Operation {
        /// The operation.
        operation: &'static str,
        /// Status as reported.
        status: String,
    },
}

/// Operations of `mdadm`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MdadmStep {
    /// Remove the superblock from a member.
    #[error("removing the RAID superblock from {0}")]
    RemoveSuperblock(String),
    /// Make an array writable.
    #[error("making {0} writable")]
    MakeWritable(String),
    /// Stop an array.
    #[error("stopping the array {0}")]
    Stop(String),
}

/// Operations on a RAID controller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControllerStep {
    /// Describe itself.
    #[error("querying the controller {0}")]
    QueryController(String),
    /// Describe a drive.
    #[error("querying the drive {0}")]
    QueryDrive(String),
    /// List its volumes.
    #[error("querying the volumes of the controller")]
    QueryVolumes,
    /// Report the status of a background operation.
    #[error("querying {operation} of {path}")]
    QueryOperation {
        /// The operation, under the name that the program uses.
        operation: &'static str,
        /// Address of the volume.
        path: String,
    },
    /// Create a volume.
    #[error("creating the volume")]
    Create,
    /// Initialise a volume.
    #[error("initialising the volume")]
    Initialise,
    /// Stop an initialisation.
    #[error("stopping the initialisation of {0}")]
    StopInitialisation(String),
    /// Delete a volume.
    #[error("deleting the volume {name} ({path})")]
    Delete {
        /// Name of the volume.
        name: String,
        /// Address of the volume.
        path: String,
    },
    /// Erase a drive.
    #[error("erasing the drive {address} ({serial})")]
    Erase {
        /// Address of the drive.
        address: String,
        /// Serial number of the drive.
        serial: String,
    },
    /// Report the progress of an erase.
    #[error("querying the erase progress of {0}")]
    QueryErase(String),
}

/// A failed command to a RAID controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerFailure {
    /// The attempted operation.
    pub step: ControllerStep,
    /// The controller's report.
    pub reported: String,
    /// The usual cause of such a failure.
    pub cause: Option<&'static str>,
    /// The controller's program.
    pub program: &'static str,
    /// Number of the controller.
    pub adapter: u32,
    /// The command.
    pub arguments: String,
}

impl std::error::Error for ControllerFailure {}

impl fmt::Display for ControllerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.step, self.reported)?;
        self.cause.map_or(Ok(()), |cause| write!(f, "; {cause}"))
    }
}

impl ArrayError {
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            Self::Program { .. }
            | Self::NoProgram(_)
            | Self::Response { .. }
            | Self::NoIdentifier(_)
            | Self::NoNumber
            | Self::Note { .. }
            | Self::MembersLost(_)
            | Self::MemberChanged { .. }
            | Self::NotBlock(_)
            | Self::DriveUnreported { .. }
            | Self::OtherDrive { .. }
            | Self::NoCryptoErase { .. } => ErrorKind::Unusable,
            Self::Absent | Self::NotArray | Self::PurgedAsDrives | Self::NoController => ErrorKind::Invalid,
            Self::EraseContinues { .. } => ErrorKind::Stopped,
            Self::Mdadm { .. }
            | Self::NotCreated { .. }
            | Self::Command(_)
            | Self::Syncing { .. }
            | Self::Broken { .. }
            | Self::Composition { .. }
            | Self::NotClear { .. }
            | Self::EraseFailed { .. }
            | Self::EraseUnreported(_)
            | Self::EraseHangs
            | Self::Volume(_) => ErrorKind::Device,
        }
    }
}
