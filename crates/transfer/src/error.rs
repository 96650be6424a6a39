//! Errors of a transfer.

use std::path::{Path, PathBuf};

use record::{LibraryError, Unverified};

/// Errors of a transfer.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// An I/O operation failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The operation, such as `read`.
        action: &'static str,
        /// The path involved.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// The bytes do not continue the journal.
    #[error("run {id} cannot be transferred: its journal is damaged at byte {at}")]
    Unverified {
        /// Id of the run.
        id: String,
        /// Offset of the line that was not accepted.
        at: u64,
        /// The reason.
        source: Unverified,
    },
    /// The journal does not belong to the `run.json`.
    #[error("run {id} cannot be transferred: its journal was created with a different run.json")]
    OtherRunFile {
        /// Id of the run.
        id: String,
    },
    /// The journal is too large to be read.
    #[error(
        "run {id} cannot be transferred: its journal has {bytes} B, and a journal of more than {limit_bytes} B cannot be read"
    )]
    TooLarge {
        /// Id of the run.
        id: String,
        /// Length of the journal, including the records that were to be added.
        bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The destination has another run with this id.
    #[error("the destination has another run {id}, whose records differ; nothing was changed")]
    OtherRun {
        /// Id of the run.
        id: String,
    },
    /// The destination has the original run, which only its own process may continue.
    #[error(
        "the destination has the original run {id}, not a copy; nothing was changed. If it uses this library, on a file \
         system that both hosts share, runs need not be sent"
    )]
    Original {
        /// Id of the run.
        id: String,
    },
    /// The destination has the run as an archive, whose files cannot be changed.
    #[error(
        "run {id} is archived at the destination, and the archive is not up to date with the source; first restore its \
         directory there: plateau unarchive {id}"
    )]
    Archived {
        /// Id of the run.
        id: String,
    },
    /// There is a gap between the bytes at the destination and those that were sent.
    #[error("the destination has {have_bytes} bytes of run {id}, but received bytes from {at}")]
    Gap {
        /// Id of the run.
        id: String,
        /// Number of bytes at the destination.
        have_bytes: u64,
        /// Offset of the received bytes.
        at: u64,
    },
    /// The destination does not have the run.
    #[error("the destination does not have run {id}")]
    Unknown {
        /// Id of the run.
        id: String,
    },
    /// Another process is writing to the copy, or to the run itself.
    #[error("another process is working on run {id} at the destination")]
    Busy {
        /// Id of the run.
        id: String,
    },
    /// The destination cannot be reached, or did not respond as expected; the transfer may be retried.
    #[error("{text}")]
    Unreachable {
        /// What happened.
        text: String,
    },
    /// The destination accepts nothing from the sender until an operator changes that.
    #[error("{text}")]
    NotAdmitted {
        /// What happened.
        text: String,
    },
    /// The destination refuses the data; retrying does not help.
    #[error("{text}")]
    Refused {
        /// What happened.
        text: String,
    },
    /// An error in a library.
    #[error(transparent)]
    Library(#[from] LibraryError),
}

pub(crate) fn io(action: &'static str, path: &Path, source: std::io::Error) -> TransferError {
    TransferError::Io { action, path: path.into(), source }
}
