//! How a test ends that several conditions can end, of which steady state is only one or none.

/// The conditions that end a test, and the one that did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The conditions: `4 x capacity written, or 24 h, whichever comes first`.
    pub required: String,
    /// The condition that was met: `4 x capacity written after 80 min`.
    pub done: String,
    /// Whether that is not one of the required conditions, or the test went on where the specification does not allow it.
    pub deviates: bool,
}
