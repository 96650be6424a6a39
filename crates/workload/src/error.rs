//! Errors of the trace commands.

use std::path::PathBuf;

use ::capture::CaptureError;
use device::DriveError;
use stdx::files::ReadError;
use trace::{NoComposite, NoReplay, TraceError};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A file cannot be opened.
    #[error("cannot read {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: ReadError,
    },
    /// A file is not a trace, or is damaged.
    #[error("cannot use {}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: TraceError,
    },
    /// A random seed could not be obtained.
    #[error("cannot obtain a random seed")]
    Seed(#[source] std::io::Error),
    /// A trace has no streams that a plan can use.
    #[error("cannot make a plan from {}", path.display())]
    NoPlan {
        /// The trace.
        path: PathBuf,
        /// The reason.
        source: NoComposite,
    },
    /// A device cannot be captured.
    #[error("cannot capture {}", path.display())]
    Capture {
        /// The device.
        path: PathBuf,
        /// The reason.
        source: CaptureError,
    },
    /// The device had no I/O during the capture.
    #[error("{}: no I/O during the capture; no trace was written", path.display())]
    NothingCaptured {
        /// The device.
        path: PathBuf,
    },
    /// A trace cannot be replayed on a target.
    #[error("cannot replay {} on {target}", path.display())]
    NoReplay {
        /// The trace.
        path: PathBuf,
        /// The target.
        target: String,
        /// The reason.
        source: NoReplay,
    },
    /// The specified size of the target is not valid.
    #[error("invalid size of the target: {0}")]
    Size(String),
    /// The target refused the replay or failed.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A replay was interrupted.
    #[error("interrupted; results of an incomplete replay are discarded")]
    Interrupted,
}
