//! The output of a command.

use std::path::PathBuf;

use serde_json::Value;

/// The result of a command.
#[derive(Debug, Default)]
pub struct Answer {
    /// Remarks about the result.
    pub warnings: Vec<String>,
    /// The result as text for the user.
    pub text: String,
    /// The result as a JSON document.
    pub document: Value,
    /// Files to write.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}
