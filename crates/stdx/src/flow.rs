//! Whether a long operation continues.

/// Decision of the receiver of a progress report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continue.
    Continue,
    /// End as soon as possible: a load completes its outstanding I/Os first, an operation that a drive executes on
    /// its own is no longer waited for.
    Stop,
}
