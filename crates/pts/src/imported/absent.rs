//! Placeholder for a fact that is missing from an imported run's file.

/// Replaces a fact that the imported file does not contain.
pub const ABSENT: &str = "not in the file";
