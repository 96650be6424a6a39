//! How a test with several end conditions ends; at most one of the conditions is steady state.

/// The end conditions of a test, and the condition that was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The conditions, such as `4 x capacity written, or 24 h, whichever comes first`.
    pub required: String,
    /// The condition that was met, such as `4 x capacity written after 80 min`.
    pub done: String,
    /// Whether the condition that was met is not a required one, or the test went on contrary to the
    /// specification.
    pub deviates: bool,
}
