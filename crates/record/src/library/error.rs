//! Errors in a library or in one of its runs.

use std::path::{Path, PathBuf};

use super::archive;
use crate::{JournalError, LibraryJournalError};

/// Errors in a library or in one of its runs.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
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
    /// No such run.
    #[error("no run '{name}' in {}; {}`plateau runs` lists the runs", library.display(), meant(name))]
    NoSuchRun {
        /// The requested run.
        name: String,
        /// Root of the library.
        library: PathBuf,
    },
    /// The name is empty, for example because a variable in a script is unset.
    #[error(
        "no run is given; specify one by its id, the start of its id, or `latest` (`plateau runs` lists them)"
    )]
    Unnamed,
    /// `latest~N` would be a run before the oldest run.
    #[error("no run '{name}' in {}, which contains {count}; `plateau runs` lists the runs", library.display())]
    TooFewRuns {
        /// The requested run.
        name: String,
        /// Number of runs in the library.
        count: usize,
        /// Root of the library.
        library: PathBuf,
    },
    /// Several runs match.
    #[error("'{name}' is ambiguous: it matches {}; type more of the id", candidates.join(", "))]
    Ambiguous {
        /// The requested run.
        name: String,
        /// Ids of the matching runs.
        candidates: Vec<String>,
    },
    /// Several runs have this name.
    #[error("'{name}' is the name of several runs; use one of their ids: {}", candidates.join(", "))]
    Namesakes {
        /// The requested run.
        name: String,
        /// Ids of the runs.
        candidates: Vec<String>,
    },
    /// `run.json` is not valid.
    #[error("{} is not a run file: {problem}", path.display())]
    BadRunFile {
        /// Path of the `run.json`.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// `run.json` does not match the digest in the journal.
    #[error("{} was changed after the run started: its digest differs from the one in the journal", path.display())]
    ChangedRunFile {
        /// Path of the `run.json`.
        path: PathBuf,
    },
    /// A run in progress cannot be removed.
    #[error("{id} is in progress; stop it first")]
    InProgress {
        /// Id of the run.
        id: String,
    },
    /// A run's directory contains something other than regular files.
    #[error("{} does not belong to the run, so {id} was not removed; remove that file first", path.display())]
    Foreign {
        /// Id of the run.
        id: String,
        /// Path of the unexpected entry.
        path: PathBuf,
    },
    /// The files of an archived run cannot be changed.
    #[error(
        "run {id} is archived, so its files cannot be changed; first restore its directory: plateau unarchive {id}"
    )]
    Archived {
        /// Id of the run.
        id: String,
    },
    /// The run is already archived.
    #[error("run {id} is already archived")]
    AlreadyArchived {
        /// Id of the run.
        id: String,
    },
    /// The run is not archived.
    #[error("run {id} is not archived")]
    NotArchived {
        /// Id of the run.
        id: String,
    },
    /// A run's directory contains an object that cannot be archived.
    #[error(
        "{} cannot be archived, so {id} was not: only regular files with names of at most 100 bytes can; move it out of \
         the directory of the run first",
        path.display()
    )]
    NotArchivable {
        /// Id of the run.
        id: String,
        /// Path of the object.
        path: PathBuf,
    },
    /// Another object has the name that the run's directory or archive needs.
    #[error("{} exists and is not the same run; compare it with run {id}, and move or remove one of them", path.display())]
    InTheWay {
        /// Id of the run.
        id: String,
        /// Path of the object.
        path: PathBuf,
    },
    /// An error in the journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An error in the library's journal.
    #[error(transparent)]
    LibraryJournal(#[from] LibraryJournalError),
}

/// Returns a suggestion for a mistyped `latest`.
fn meant(name: &str) -> &'static str {
    stdx::nearest(name, ["latest"].into_iter()).map_or("", |_| "did you mean `latest`? ")
}

impl LibraryError {
    /// Returns whether this error explains why the run with this id or id prefix cannot be read.
    pub(super) fn is_about(&self, name: &str) -> bool {
        let (Self::Io { path, .. } | Self::BadRunFile { path, .. }) = self else { return false };
        let archived = path.file_name().and_then(archive::run_in);
        let id = archived.or_else(|| path.parent().and_then(Path::file_name));
        id.is_some_and(|id| id.to_string_lossy().starts_with(name))
    }
}

pub(super) fn io(action: &'static str, path: &Path, source: std::io::Error) -> LibraryError {
    LibraryError::Io { action, path: path.into(), source }
}
