//! The ways in which I/Os reach a target.

use serde::{Deserialize, Serialize};

/// An I/O engine (fio: `ioengine`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoEngine {
    /// io_uring.
    IoUring,
    /// NVMe commands through io_uring, bypassing the block layer.
    IoUringCmd,
    /// Linux native asynchronous I/O (libaio).
    Libaio,
    /// `pread` and `pwrite` in the load thread: one I/O at a time.
    Psync,
    /// `pread` and `pwrite` in one thread per outstanding I/O.
    Threads,
    /// No I/O: every request completes immediately. Measures the cost of the load loop itself.
    Null,
    /// No-op requests through io_uring. Measures the cost of the ring without a target.
    NoOpRing,
    /// `fallocate` or `ftruncate` in place of writes, without data.
    Space,
    /// SCSI commands in the load thread, bypassing the block layer: one at a time.
    Sg,
    /// Files that are created, inspected or deleted, without data: one system call in the load thread for each.
    Files,
    /// The simulated drive, in virtual time.
    Simulated,
}

impl IoEngine {
    /// Returns the displayed name: fio's name, if fio has this engine.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::IoUringCmd => "io_uring_cmd",
            Self::Libaio => "libaio",
            Self::Psync => "pread and pwrite (depth 1)",
            Self::Threads => "threads",
            Self::Null => "null",
            Self::NoOpRing => "no-op ring",
            Self::Space => "fallocate and ftruncate",
            Self::Sg => "sg",
            Self::Files => "file operations",
            Self::Simulated => "simulated",
        }
    }

    /// Returns whether every I/O passes through an io_uring ring, so that the host's cost includes the cost of
    /// the ring.
    #[must_use]
    pub const fn uses_ring(self) -> bool {
        matches!(self, Self::IoUring | Self::IoUringCmd | Self::NoOpRing)
    }
}
