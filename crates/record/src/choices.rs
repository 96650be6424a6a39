//! Choices that the PTS leaves to the tester for single tests, as stored in `run.json`. What is absent was not chosen.

use serde::{Deserialize, Serialize};

/// The random workload of DIRTH.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirthChoice {
    /// Bytes per I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u32>,
    /// Percentage of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_percent: Option<u8>,
}

impl DirthChoice {
    /// Nothing was chosen.
    pub const NONE: Self = Self { block_bytes: None, read_percent: None };

    /// Whether nothing was chosen.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}
