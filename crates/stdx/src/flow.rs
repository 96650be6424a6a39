//! Whether a long operation continues.

/// The response to a progress report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continue.
    Continue,
    /// Stop as soon as possible: outstanding I/Os are still completed, but nothing waits for operations that
    /// the drive executes on its own.
    Stop,
    /// End early, but normally: a load ends with the results so far. Other operations stop.
    Finish,
}
