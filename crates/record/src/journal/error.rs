//! Errors in a journal.

use std::path::PathBuf;

use super::line::{MAGIC, VERSION};

/// Errors in a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// An I/O operation failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The operation, such as `read`.
        action: &'static str,
        /// Path of the journal.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// The file is not a journal.
    #[error("{} is not a Plateau journal: its first line is not '{MAGIC}N'", path.display())]
    NotAJournal {
        /// Path of the journal.
        path: PathBuf,
    },
    /// The journal was written by a newer Plateau.
    #[error(
        "{} has journal version {found}; this version of Plateau reads up to version {VERSION}: use the version \
         that wrote it, or a newer one",
        path.display()
    )]
    Newer {
        /// Path of the journal.
        path: PathBuf,
        /// Version of the journal.
        found: u32,
    },
    /// The journal has a version number that no version of Plateau ever wrote.
    #[error(
        "{} has journal version {found}, which no version of Plateau has ever written: its first line was \
         changed; restore the file from a copy",
        path.display()
    )]
    Unknown {
        /// Path of the journal.
        path: PathBuf,
        /// Version of the journal.
        found: u32,
    },
    /// A record is damaged, and not merely incomplete at the end of the journal.
    #[error("{} is damaged at record {seq}: {problem}; restore it from a copy", path.display())]
    Damaged {
        /// Path of the journal.
        path: PathBuf,
        /// Number of the record.
        seq: u64,
        /// What is wrong with the record.
        problem: String,
    },
    /// Another process is writing to the journal.
    #[error("{} is being written by another plateau process; wait for it, or stop it first", path.display())]
    Busy {
        /// Path of the journal.
        path: PathBuf,
    },
}
