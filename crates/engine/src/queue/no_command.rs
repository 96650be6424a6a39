//! Why a target does not support the NVMe commands of a workload.

use std::io;

/// Why a target does not support the NVMe commands of a workload.
#[derive(Debug, thiserror::Error)]
pub enum NoCommand {
    /// The load does not send commands.
    #[error("they need ioengine=io_uring_cmd")]
    NotRequested,
    /// The device for commands is not available.
    #[error("{0}")]
    NoDevice(String),
    /// The controller lacks a command.
    #[error("the drive has no {0} command")]
    Missing(&'static str),
    /// A command covers too many blocks.
    #[error("a command covers at most {most_bytes} B")]
    TooLarge {
        /// The most bytes of a command.
        most_bytes: u64,
    },
    /// The kernel refused to ask the drive for its placement handles.
    #[error("the placement handles are not known: {}", record::errno::reason(.0))]
    Unknown(#[source] io::Error),
    /// The drive reports no placement handles.
    #[error("the namespace has no data placement: I/O Management Receive failed with NVMe status {0:#x}")]
    NoPlacement(i32),
    /// There is no placement handle with this index.
    #[error("the namespace has {count} placement handles, so there is none with the index {index}")]
    NoHandle {
        /// Number of handles.
        count: usize,
        /// The index.
        index: u16,
    },
}
