//! Errors concerning a target or the way in which it is used.

use std::io;
use std::path::PathBuf;

use nandsim::{FaultError, ModelError, ScaleError};
use record::errno::reason;
use record::{Workload, WorkloadError};
use stdx::files::ReadError;
use stdx::units::amount_base2;

use super::description::DescriptionError;
use super::kind::ErrorKind;

/// What is wrong with a target or with a request for it.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A system call failed.
    #[error("{}", reason(.0))]
    System(#[from] io::Error),
    /// The device does not exist.
    #[error("no such device")]
    NoDevice,
    /// The file does not exist, and no size was specified.
    #[error("no such file")]
    NoFile,
    /// The file does not exist. A file is created only if it will be written to.
    #[error("no such file, and a read-only load does not create one")]
    NoFileToRead,
    /// The file's folder does not exist.
    #[error("there is no directory {}", .0.display())]
    NoDirectory(PathBuf),
    /// The path does not end in a name.
    #[error("it is not a file name")]
    NotFileName,
    /// The path is a dangling symbolic link.
    #[error("it is a dangling symbolic link")]
    DanglingLink,
    /// This type of file is not supported as a target.
    #[error("it is {0}")]
    WrongKind(WrongKind),
    /// Another file has replaced the target.
    #[error("it is no longer the file that was found: another file has replaced it")]
    Replaced,
    /// The file has become shorter.
    #[error("it has {length_bytes} B, not {capacity_bytes}")]
    Shorter {
        /// Length of the file.
        length_bytes: u64,
        /// The expected capacity.
        capacity_bytes: u64,
    },
    /// The block device has no capacity.
    #[error("it has no capacity: it is an empty slot, or a loop or zram device that is not set up")]
    EmptyDevice,
    /// The file is empty.
    #[error("it has no capacity")]
    EmptyFile,
    /// The target is smaller than the minimum.
    #[error("{} is too small; the smallest target is {}", amount_base2(*.bytes), amount_base2(*.least_bytes))]
    TooSmall {
        /// Capacity of the target.
        bytes: u64,
        /// Capacity of the smallest target.
        least_bytes: u64,
    },
    /// The file is smaller than one block.
    #[error("the file has {bytes} bytes; the smallest target has {}", amount_base2(*.least_bytes))]
    NoBlock {
        /// Length of the file.
        bytes: u64,
        /// Capacity of the smallest target.
        least_bytes: u64,
    },
    /// The size given for a file is below the minimum.
    #[error("a size of {bytes} B is too small; the smallest target has {}", amount_base2(*.least_bytes))]
    SizeTooSmall {
        /// The size.
        bytes: u64,
        /// Capacity of the smallest target.
        least_bytes: u64,
    },
    /// A size was specified for a drive, which is always tested as a whole.
    #[error("a size applies only to files; a drive is always tested as a whole")]
    SizeOfDrive,
    /// A size was specified for a simulated drive.
    #[error("a size applies only to files")]
    SizeOfSimulated,
    /// A size was specified for an array.
    #[error("the size of an array follows from its members")]
    SizeOfArray,
    /// A scale was given for a real target.
    #[error("a scale applies only to simulated drives (sim:MODEL)")]
    ScaleOfReal,
    /// Faults were given for a real target.
    #[error("faults can be injected only into simulated drives (sim:MODEL)")]
    FaultsOfReal,
    /// Not a scale.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// Not a fault.
    #[error(transparent)]
    Fault(#[from] FaultError),
    /// The model of a simulated drive is not available.
    #[error(transparent)]
    Model(#[from] ModelProblem),
    /// Threads of a simulated drive cannot be pinned.
    #[error("it has no load threads to pin")]
    NoThreads,
    /// Polling was requested for a simulated drive.
    #[error("it has no queues to poll")]
    NothingToPoll,
    /// Passthrough commands were requested for a simulated drive.
    #[error("io_uring_cmd requires an NVMe drive")]
    SimulatedPassthrough,
    /// Passthrough commands were requested for a target that does not support them.
    #[error("io_uring_cmd requires an NVMe namespace, and the target is not one")]
    NotNvme,
    /// SCSI commands were requested for a target that does not accept them for its own blocks.
    #[error("sg requires a whole SCSI or SATA disk, and the target is not one")]
    NotScsi,
    /// The engine does not support polling.
    #[error("only io_uring can poll")]
    CannotPoll,
    /// The engine is for regular files.
    #[error("falloc and ftruncate require a regular file")]
    NotAFile,
    /// The engine is for loads without a target.
    #[error("this I/O engine accesses no target; give its jobs a filename of their own")]
    EngineWithoutTarget,
    /// The target does not support the workload.
    #[error(transparent)]
    Unfit(#[from] WorkloadError),
    /// The target does not support the data, the syncs or the pauses of the workload.
    #[error("workload {workload}: {why}")]
    Data {
        /// The workload.
        workload: Box<Workload>,
        /// The reason.
        why: DataProblem,
    },
    /// The workload contains writes, but the target was opened for reading.
    #[error("workload {0} writes, but the target was opened for reading only")]
    ReadOnly(Box<Workload>),
    /// An array was specified where only drives can be used.
    #[error("arrays exist only during a run")]
    ArrayOutsideRun,
    /// The description of an array cannot be read.
    #[error("{file}: {}", reason(.source))]
    Description {
        /// Path of the description.
        file: String,
        /// Why the description cannot be read.
        source: io::Error,
    },
    /// The description of an array is not valid.
    #[error(transparent)]
    Described(#[from] DescriptionError),
    /// A member of an array is not a block device.
    #[error("{0} is not a block device; array members must be")]
    MemberNotBlock(String),
    /// Two members of an array are the same device.
    #[error("{path} and {twin} are the same device")]
    SameMember {
        /// Path of the second member.
        path: String,
        /// Path of the first member.
        twin: String,
    },
    /// Members of an array have different sector sizes.
    #[error(
        "{address} has {bytes} B sectors, but the drives before it have {before_bytes} B; a volume needs \
         drives of one kind"
    )]
    DifferentSectors {
        /// Address of the drive that differs.
        address: String,
        /// Sector size of the drive that differs.
        bytes: u32,
        /// Sector size of the drives before it.
        before_bytes: u32,
    },
}

/// Types of files that are not supported as targets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongKind {
    /// A directory.
    #[error("a directory")]
    Directory,
    /// A pipe.
    #[error("a pipe")]
    Pipe,
    /// A socket.
    #[error("a socket")]
    Socket,
    /// A character device.
    #[error("a character device")]
    CharacterDevice,
    /// The character device of an NVMe controller.
    #[error("an NVMe controller")]
    NvmeController {
        /// Path of the character device.
        path: String,
    },
    /// The character device of an NVMe namespace.
    #[error("the generic device of an NVMe namespace")]
    NvmeGeneric {
        /// Controller and namespace, such as `0n1`.
        namespace: String,
    },
}

/// Why a target does not support the data, the syncs or the pauses of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DataProblem {
    /// A drive that stores no data cannot be verified.
    #[error("it stores no data, so nothing can be verified")]
    NothingStored,
    /// Compressible data makes no difference on a drive that stores no data.
    #[error("it stores no data, so compressible or duplicate data makes no difference")]
    NothingReduced,
    /// Syncs would take no time on a simulated drive.
    #[error("syncs are not simulated, so their response times are unknown; use a real target")]
    NothingSynced,
    /// Pauses within a workload are not supported on simulated drives.
    #[error("pauses are not simulated; use a real target")]
    NoPauses,
    /// The load engine does not trim simulated drives.
    #[error("trims are not simulated; use a real target")]
    NoTrims,
    /// A simulated drive ends a workload at the first error.
    #[error("errors that do not end a load are not simulated; use a real target")]
    NoTolerance,
    /// Verification on a simulated drive is limited.
    #[error("verify on a simulated drive supports one thread and a range without gaps")]
    SimulatedThreads,
    /// Commands of a simulated drive have no flags or priorities, and its blocks no zones.
    #[error(
        "priorities, atomic writes and NVMe commands are not simulated, nor are zones; use a real target"
    )]
    NoCommands,
    /// The engine cannot verify the workload.
    #[error(transparent)]
    Unverifiable(#[from] engine::Unverifiable),
}

/// Why the model of a simulated drive is not available.
#[derive(Debug, thiserror::Error)]
pub enum ModelProblem {
    /// The model file cannot be read.
    #[error("cannot read the model: {0}")]
    File(#[from] ReadError),
    /// The model is unknown or invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl TargetError {
    /// Returns whether the target is at fault, rather than the request.
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            Self::System(_)
            | Self::NoDevice
            | Self::NoFile
            | Self::NoFileToRead
            | Self::NoDirectory(_)
            | Self::NotFileName
            | Self::DanglingLink
            | Self::WrongKind(_)
            | Self::Replaced
            | Self::Shorter { .. }
            | Self::EmptyDevice
            | Self::EmptyFile
            | Self::TooSmall { .. }
            | Self::NoBlock { .. }
            | Self::SizeOfDrive
            | Self::SizeOfArray
            | Self::Model(_)
            | Self::Description { .. }
            | Self::MemberNotBlock(_) => ErrorKind::Unusable,
            Self::SizeTooSmall { .. }
            | Self::SizeOfSimulated
            | Self::ScaleOfReal
            | Self::FaultsOfReal
            | Self::Scale(_)
            | Self::Fault(_)
            | Self::NoThreads
            | Self::NothingToPoll
            | Self::SimulatedPassthrough
            | Self::EngineWithoutTarget
            | Self::NotAFile
            | Self::NotNvme
            | Self::NotScsi
            | Self::CannotPoll
            | Self::Unfit(_)
            | Self::Data { .. }
            | Self::ReadOnly(_)
            | Self::ArrayOutsideRun
            | Self::Described(_)
            | Self::SameMember { .. }
            | Self::DifferentSectors { .. } => ErrorKind::Invalid,
        }
    }
}
