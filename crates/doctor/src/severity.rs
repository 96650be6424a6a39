//! How much a problem matters.

use schemars::JsonSchema;
use serde::Serialize;

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is wrong, but it explains what commands show.
    Note,
    /// Something should be done, but no result is affected.
    Warning,
    /// Results are missing, damaged or ambiguous.
    Error,
}
