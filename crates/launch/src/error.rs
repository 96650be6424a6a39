//! Why a request was not carried out.

use std::io;
use std::path::PathBuf;

use crate::request::Invalid;

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The request is not valid.
    #[error("the request is not valid")]
    Invalid(#[from] Invalid),
    /// The process ended before the run began or continued.
    #[error("{text}")]
    Ended {
        /// Exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// Output of the process.
        text: String,
    },
    /// The library does not contain the run.
    #[error("the library does not contain the run '{run}'")]
    NoSuchRun {
        /// The run.
        run: String,
    },
    /// No process is working on the run.
    #[error("no process on this host is working on run {run}")]
    NotRunning {
        /// The run.
        run: String,
    },
    /// A process is already working on the run.
    #[error("run {run} is in progress")]
    Running {
        /// The run.
        run: String,
    },
    /// It cannot be determined whether a process is working on the run.
    #[error("run {run} may be in progress, so it was not continued")]
    Unclear {
        /// The run.
        run: String,
        /// Why this could not be determined.
        #[source]
        source: record::LibraryError,
    },
    /// A file or process could not be used.
    #[error("cannot use {}", path.display())]
    Io {
        /// File or program.
        path: PathBuf,
        /// System error.
        #[source]
        source: io::Error,
    },
    /// The launcher at a socket refused the request.
    #[error("{0}")]
    Refused(String),
}

/// Adds the path to a system error.
pub fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> LaunchError {
    let path = path.into();
    move |source| LaunchError::Io { path, source }
}
