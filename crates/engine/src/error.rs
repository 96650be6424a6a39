//! Errors of loads.
//!
//! Each message is a lowercase fragment: what happened, and the likely cause. The caller adds advice on what
//! to type next.

use std::io;

use record::errno::{cause, name, reason};
use record::{Cut, ErrorCount, IoEngine, IoPriority, Workload, WorkloadError};
use stdx::access::Access;
use zones::NotZoned;

use crate::disturbance::Disturbance;
use crate::load::not_atomic::NotAtomic;
use crate::load::verifiable::Unverifiable;
use crate::placement::error::PlacementError;
use crate::queue::no_command::NoCommand;

/// A load failed or is impossible.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The host lacks threads, memory or the requested engine.
    #[error(
        "cannot set up {threads} threads with {queue_depth} outstanding I/Os of {block_bytes} B each: {}",
        reason(.source)
    )]
    Setup {
        /// Number of threads.
        threads: u16,
        /// Queue depth of each thread.
        queue_depth: u16,
        /// Length of the largest I/O.
        block_bytes: u32,
        /// Why the last engine that was tried could not be set up.
        source: io::Error,
    },
    /// A load without a target could not be set up.
    #[error("{}: {}", .engine.name(), reason(.source))]
    SetupWithoutTarget {
        /// The engine.
        engine: IoEngine,
        /// The reason.
        source: io::Error,
    },
    /// Memory to read back the written data could not be allocated.
    #[error("cannot allocate memory to read back the written data: {0}")]
    ReadBackMemory(#[source] io::Error),
    /// A thread for one of several workloads could not be started.
    #[error("cannot start a thread for a workload: {0}")]
    WorkloadThread(#[source] io::Error),
    /// An I/O failed.
    #[error(transparent)]
    Io(Box<IoFailure>),
    /// Waiting for I/Os failed in the kernel.
    #[error("{target}: waiting for I/Os failed: {}", reason(.source))]
    Wait {
        /// Name of the target.
        target: String,
        /// Error from the queue.
        source: io::Error,
    },
    /// The host disturbed the measurement: it was suspended, it stopped the process, or its clock failed.
    #[error("{target}: {disturbance} during {workload}, which must be repeated")]
    Disturbed {
        /// Name of the target.
        target: String,
        /// The workload that has to be repeated.
        workload: Box<Workload>,
        /// The disturbance.
        disturbance: Disturbance,
    },
    /// An I/O of a replay does not fit the target.
    #[error(
        "{target}: a {} of {length_bytes} B at byte {offset_bytes} is not possible: it is not aligned to sectors, ends beyond \
         the end, or is not permitted",
        if *.read { "read" } else { "write" }
    )]
    Misfit {
        /// Name of the target.
        target: String,
        /// Whether the I/O is a read.
        read: bool,
        /// Offset of the I/O.
        offset_bytes: u64,
        /// Length of the I/O.
        length_bytes: u32,
    },
    /// The host disturbed a replay.
    #[error("{target}: {disturbance} during the replay, which must be repeated")]
    ReplayDisturbed {
        /// Name of the target.
        target: String,
        /// The disturbance.
        disturbance: Disturbance,
    },
    /// The queue depth exceeds the kernel's limits.
    #[error(
        "workload {workload}: a queue depth of {} per thread is too large; use at most {most}, and more threads",
        .workload.queue_depth
    )]
    TooDeep {
        /// The workload.
        workload: Box<Workload>,
        /// Largest depth.
        most: u16,
    },
    /// The target does not support trims.
    #[error("{target}: trims are not supported here ({}); use a device with discard or a file system with holes", reason(.source))]
    NoTrim {
        /// Name of the target.
        target: String,
        /// Error from the kernel.
        source: io::Error,
    },
    /// The target does not support the NVMe commands of a workload.
    #[error("{target}: these NVMe commands are not possible here: {why}")]
    NoCommands {
        /// Name of the target.
        target: String,
        /// The reason.
        why: NoCommand,
    },
    /// The target does not support the atomic writes of a workload.
    #[error("{target}: atomic writes are not possible here: {why}")]
    NotAtomic {
        /// Name of the target.
        target: String,
        /// The reason.
        why: NotAtomic,
    },
    /// The target does not support the zones of a workload.
    #[error("{target}: zones (zonemode=zbd) are not possible here: {why}")]
    NotZoned {
        /// Name of the target.
        target: String,
        /// The reason.
        why: NotZoned,
    },
    /// This process may not use an I/O priority, or the kernel does not know it.
    #[error("the I/O priority {priority} (class/level/hint) is not possible here: {}; class 1 needs root, and hints need Linux 6.5", reason(.source))]
    Priority {
        /// The priority.
        priority: IoPriority,
        /// Error from the kernel.
        source: io::Error,
    },
    /// A workload writes to a range that another workload verifies.
    #[error("{target}: {writer} writes to the range that {verifier} verifies")]
    VerifiedRangeShared {
        /// Name of the target.
        target: String,
        /// The workload that writes.
        writer: Box<Workload>,
        /// The workload that verifies.
        verifier: Box<Workload>,
    },
    /// The blocks that several workloads write and verify cannot be verified together.
    #[error("{target}: {why}")]
    Unverifiable {
        /// Name of the target.
        target: String,
        /// The reason.
        why: Unverifiable,
    },
    /// The threads cannot be placed as requested.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The workload of a load without a target is invalid.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The intervals of the time series have a length of zero.
    #[error("the length of an interval is zero")]
    NoInterval,
    /// Verification was requested for a load without a target, which has no data to verify.
    #[error("a load without a target reads no data that could be verified")]
    NothingToVerify,
}

/// The kind of operation that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedOperation {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A trim.
    Trim,
    /// A comparison or check by the device.
    Verify,
    /// A reset or finish of a zone.
    Zone,
    /// An fsync or fdatasync, which has neither offset nor length.
    Sync,
}

impl FailedOperation {
    pub(crate) const fn of(access: Access) -> Self {
        if access.read { Self::Read } else { Self::Write }
    }
}

/// Why an I/O failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCause {
    /// Only this many bytes were transferred.
    Short(u64),
    /// This error number.
    Errno(i32),
}

/// The first failed I/O of a load.
#[derive(Debug)]
pub struct IoFailure {
    /// Name of the target.
    pub target: String,
    /// The kind of operation.
    pub operation: FailedOperation,
    /// Length of the I/O.
    pub length_bytes: u64,
    /// Offset of the I/O.
    pub offset_bytes: u64,
    /// Why the I/O failed.
    pub cause: FailureCause,
    /// Whether the I/O failed while the written data was read back.
    pub in_read_back: bool,
    /// Number of retries that the kernel requested.
    pub repeats: u64,
    /// All failed I/Os by kind, including those after the first.
    pub errors: Vec<ErrorCount>,
    /// Measurements of the workload before the failure.
    pub cut: Option<Box<Cut>>,
}

impl std::error::Error for IoFailure {}

impl std::fmt::Display for IoFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (length, offset) = (self.length_bytes, self.offset_bytes);
        write!(f, "{}: ", self.target)?;
        match self.operation {
            FailedOperation::Read => write!(f, "a read of {length} B at byte {offset} ")?,
            FailedOperation::Write => write!(f, "a write of {length} B at byte {offset} ")?,
            FailedOperation::Trim => write!(f, "a trim of {length} B at byte {offset} ")?,
            FailedOperation::Verify => write!(f, "a verification of {length} B at byte {offset} ")?,
            FailedOperation::Zone => write!(f, "a reset of the zone of {length} B at byte {offset} ")?,
            FailedOperation::Sync => f.write_str("a sync of the written data ")?,
        }
        if self.in_read_back {
            f.write_str("while reading back the written data ")?;
        }
        f.write_str("failed with ")?;
        match self.cause {
            FailureCause::Short(bytes) if self.in_read_back => {
                write!(f, "only {bytes} B transferred; did the file shrink?")?;
            }
            FailureCause::Short(bytes) => {
                write!(f, "only {bytes} B transferred; the device vanished or shrank")?;
            }
            FailureCause::Errno(errno) => write!(f, "{}: {}", name(errno), cause(errno))?,
        }
        let more = self.errors.iter().map(|error| error.count).sum::<u64>().saturating_sub(1);
        if more > 0 {
            write!(f, "; {more} more I/Os in flight failed")?;
        }
        if self.repeats > 0 {
            write!(f, "; the kernel requested {} retries (EAGAIN, EINTR)", self.repeats)?;
        }
        Ok(())
    }
}
