//! How to drive a target: I/O engine, thread placement, and polling.

use record::PathRemark;

use crate::choice::Choices;
use crate::load::stamp_run::StampRun;
use crate::placement::Places;

/// How to drive a target.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// I/O engine.
    pub engine: Engine,
    /// The CPUs on which the threads run.
    pub places: Places,
    /// io_uring polling mode.
    pub polling: Polling,
    /// Why the load does not poll although polling was requested.
    pub unpolled: Option<&'static str>,
    /// The engines that were chosen for individual workloads; see [`choose`](crate::choose()).
    pub choices: Choices,
    /// The run whose stamps read-only workloads accept if they verify; `None` to accept every run.
    pub expected_run: Option<StampRun>,
    /// The other manners of driving the target, for concurrent workloads that select one; see
    /// [`of_manner`](Self::of_manner). They have none of their own.
    pub others: Vec<LoadOptions>,
}

impl LoadOptions {
    /// Returns the options of a manner: 0 for these options themselves, and numbers from 1 for the others.
    ///
    /// # Panics
    /// If there is no such manner.
    #[must_use]
    pub fn of_manner(&self, manner: usize) -> &Self {
        manner.checked_sub(1).map_or(self, |other| &self.others[other])
    }

    /// Like [`of_manner`](Self::of_manner), to change the options.
    ///
    /// # Panics
    /// If there is no such manner.
    pub fn of_manner_mut(&mut self, manner: usize) -> &mut Self {
        match manner.checked_sub(1) {
            None => self,
            Some(other) => &mut self.others[other],
        }
    }

    /// Returns whether any manner sends NVMe commands.
    #[must_use]
    pub fn sends_commands(&self) -> bool {
        self.engine == Engine::IoUringCmd || self.others.iter().any(Self::sends_commands)
    }
}

/// I/O engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Engine {
    /// Uses `pread` and `pwrite` at QD 1 and io_uring at larger depths. If io_uring cannot be set up, falls
    /// back to libaio and then to threads; the segment records the engine and the reason.
    #[default]
    Auto,
    /// io_uring; fails if it is not available.
    IoUring,
    /// Linux native asynchronous I/O (libaio); fails if it is not available.
    Libaio,
    /// `pread` and `pwrite`, with one thread per outstanding I/O.
    Threads,
    /// NVMe commands through io_uring (passthrough), bypassing the block layer. NVMe only. Falls back to
    /// plain io_uring if the kernel or the drive does not support passthrough; the segment records the
    /// reason.
    IoUringCmd,
    /// SCSI commands (`SG_IO`), bypassing the block layer; one at a time. Whole SCSI or SATA disks only.
    Scsi,
    /// No I/O: every request completes immediately, and nothing is opened. Needs a load without a target.
    Null,
    /// A system call that changes the space of a regular file takes the place of each write.
    Space(SpaceCall),
    /// One operation for each file of a folder, without data. Needs a target with names of files.
    Files(FileOperation),
}

/// A system call that changes the space of a file and transfers no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceCall {
    /// `fallocate`: the blocks are allocated, and existing data is kept.
    Allocate,
    /// `ftruncate`: the file ends at the offset.
    Truncate,
}

/// What is done with each file of a load without data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperation {
    /// Create a file that does not exist.
    Create,
    /// Read the attributes of a file.
    Stat,
    /// Delete a file.
    Delete,
    /// Create a folder that does not exist.
    CreateFolder,
    /// Read the attributes of a folder.
    StatFolder,
    /// Delete an empty folder.
    DeleteFolder,
}

impl FileOperation {
    /// Returns whether the operation applies to folders instead of files.
    #[must_use]
    pub const fn is_on_folders(self) -> bool {
        matches!(self, Self::CreateFolder | Self::StatFolder | Self::DeleteFolder)
    }

    /// Returns whether the operation creates what it is applied to.
    #[must_use]
    pub const fn creates(self) -> bool {
        matches!(self, Self::Create | Self::CreateFolder)
    }

    /// Returns whether the operation only reads attributes.
    #[must_use]
    pub const fn only_inspects(self) -> bool {
        matches!(self, Self::Stat | Self::StatFolder)
    }
}

/// The files of a load that creates, inspects or deletes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFiles {
    /// Path of the folder.
    pub folder: String,
    /// Names of the files in it.
    pub names: Vec<String>,
    /// Length of each file.
    pub file_bytes: u64,
}

impl Engine {
    /// Returns whether I/Os transfer data to or from a target.
    #[must_use]
    pub const fn transfers_data(self) -> bool {
        !matches!(self, Self::Null | Self::Space(_) | Self::Files(_))
    }
}

/// io_uring polling mode. Polling avoids interrupts but keeps a CPU busy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Polling {
    /// No polling.
    #[default]
    No,
    /// The load's own thread polls for completions (`IORING_SETUP_IOPOLL`, fio's `hipri`). Requires a block
    /// device with poll queues. If it has none, the load runs unpolled, and the segment records the reason.
    Completions,
    /// A kernel thread polls for submissions (`IORING_SETUP_SQPOLL`, fio's `sqthread_poll`). Its CPU time is
    /// not part of any segment.
    Submissions,
}

impl Polling {
    /// Returns the remark that is added to segments in this mode.
    pub(crate) const fn remark(self) -> Option<PathRemark> {
        match self {
            Self::No => None,
            Self::Completions => Some(PathRemark::CompletionsPolled),
            Self::Submissions => Some(PathRemark::SubmissionsPolled),
        }
    }
}
