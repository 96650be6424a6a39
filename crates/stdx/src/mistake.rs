//! Errors in files that people write.

/// An error in a file, with its position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct Mistake {
    /// Path as opened.
    pub file: String,
    /// Line number, starting at 1.
    pub line: usize,
    /// Column number in characters, starting at 1.
    pub column: usize,
    /// The problem, and how to fix it.
    pub problem: String,
}
