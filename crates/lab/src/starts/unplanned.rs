//! Why a plan was not estimated.

use launch::TargetProblem;

/// Why a plan was not estimated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unplanned {
    /// The target cannot be used, but another value in the form would help.
    Target { path: String, problem: TargetProblem },
    /// Anything else, as text.
    Mistakes(Vec<String>),
}
