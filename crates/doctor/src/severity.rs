//! The severity of a problem.

use schemars::JsonSchema;
use serde::Serialize;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Not a problem, but explains the output of commands.
    Note,
    /// Action is needed, but no result is affected.
    Warning,
    /// Results are missing, damaged or ambiguous.
    Error,
}
