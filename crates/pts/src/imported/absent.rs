//! Placeholder for a fact that the file of an imported run does not contain.

/// Replaces a fact that the imported file does not contain.
pub const ABSENT: &str = "not in the file";
