//! Whether a long operation continues.

/// The response to a progress report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continue.
    Continue,
    /// Stop as soon as possible: a load still completes its outstanding I/Os, but operations that the drive
    /// executes on its own are not waited for.
    Stop,
    /// End early, but normally: a load ends with the results so far. Other operations stop.
    Finish,
}
