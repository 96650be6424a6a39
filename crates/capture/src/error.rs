//! Why a device cannot be captured.

use std::io;

use trace::TraceError;

/// Why a device cannot be captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The path does not exist or cannot be inspected.
    #[error("cannot inspect it")]
    Inspect(#[source] io::Error),
    /// The path is not a block device.
    #[error("it is not a block device")]
    NotABlockDevice,
    /// The path is a partition; the kernel's events refer to the whole disk.
    #[error("it is a partition, and the kernel traces whole disks; capture {disk}")]
    Partition {
        /// The disk.
        disk: String,
    },
    /// The process may not use tracefs.
    #[error("the kernel's tracer is only available to root")]
    NotPermitted,
    /// The kernel has no tracefs or no block events.
    #[error("this kernel cannot trace block devices: {what} is missing")]
    NoTracer {
        /// What is missing.
        what: &'static str,
    },
    /// A tracer file cannot be used.
    #[error("cannot use the kernel tracer's file {file}")]
    Tracer {
        /// The file, relative to tracefs.
        file: String,
        /// The underlying error.
        source: io::Error,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
