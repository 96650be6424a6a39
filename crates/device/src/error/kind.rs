//! Classes of errors.

/// Classes of [`DriveError`](crate::DriveError), by how a caller can respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Refused for safety: nothing was written.
    Refused,
    /// Wrong target, or a target in the wrong state: nothing was written.
    Unusable,
    /// The device failed during use.
    Device,
    /// The host was suspended or too busy, or its clock became unreliable. The device is not at fault, and the
    /// request may be repeated.
    Disturbed,
    /// Cancelled; an operation already started may continue.
    Stopped,
    /// The request is not valid for this target.
    Invalid,
}
