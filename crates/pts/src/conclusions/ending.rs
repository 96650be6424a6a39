//! How a test with several end conditions ends; at most one of the conditions is steady state.

/// The end conditions of a test, and the condition that was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The conditions, such as `4 x capacity written, or 24 h, whichever comes first`.
    pub required: String,
    /// The condition that was met, such as `4 x capacity written after 80 min`.
    pub done: String,
    /// Whether the test ended before any required condition was met, or went on for longer than the
    /// specification allows.
    pub deviates: bool,
}
