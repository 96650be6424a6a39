//! Mistakes in a rules file.

/// A mistake in a rules file, with its position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct Mistake {
    /// Path as opened.
    pub file: String,
    /// Line number, starting at 1.
    pub line: usize,
    /// Column number in characters, starting at 1.
    pub column: usize,
    /// What is wrong, and how to correct it.
    pub problem: String,
}
