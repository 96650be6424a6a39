//! Placeholder for a fact that is missing from the file of an imported run.

/// Replaces a fact that the imported file does not contain.
pub const ABSENT: &str = "not in the file";
