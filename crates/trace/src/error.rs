//! Why a trace cannot be read or written.

use std::io;

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Reading the input failed.
    #[error("cannot read the input")]
    Read(#[source] io::Error),
    /// Writing the output failed.
    #[error("cannot write the trace")]
    Write(#[source] io::Error),
    /// The file does not begin with the magic bytes of a trace.
    #[error("it is not a Plateau trace")]
    NotATrace,
    /// The file was written by a newer version.
    #[error("it has version {version} of the trace format; this program reads version 1")]
    Version {
        /// Format version of the file.
        version: u32,
    },
    /// The file ends before its summary.
    #[error("it is incomplete: it ends after {ios} I/Os, without the summary that ends each trace")]
    Truncated {
        /// Number of I/Os in complete blocks.
        ios: u64,
    },
    /// A block does not match its checksum, or contains impossible values.
    #[error("it is damaged at byte {at_byte}: {problem}")]
    Damaged {
        /// Start of the block in the file.
        at_byte: u64,
        /// The problem with the block.
        problem: &'static str,
    },
    /// The first lines of the input do not match any known format.
    #[error("its first lines match none of the known formats")]
    UnknownFormat,
    /// The input contains no I/O.
    #[error("it contains no I/O{}", .reason.as_deref().map_or_else(String::new, |reason| format!("; {reason}")))]
    Empty {
        /// The first error in a line.
        reason: Option<String>,
    },
    /// The caller stopped.
    #[error("interrupted")]
    Stopped,
}
