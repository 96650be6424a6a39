//! Whether a long operation continues.

/// The answer to a progress report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continue.
    Continue,
    /// Stop as soon as possible: a load still completes its outstanding I/Os; an operation that the drive
    /// executes on its own is no longer waited for.
    Stop,
}
