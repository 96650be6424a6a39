//! Result of verifying a workload's data: blocks are stamped when written and checked when read.

use serde::{Deserialize, Serialize};

/// A workload's verification result, including the read-back at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// Number of blocks checked, counting repeated checks.
    pub checked_blocks: u64,
    /// Blocks that did not contain the data written to them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_blocks: u64,
    /// Details of the first blocks with wrong data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<WrongPlace>,
    /// The first failed I/O, which ended the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailedIo>,
}

/// A block that did not contain the data written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrongPlace {
    /// Byte offset on the target.
    pub offset_bytes: u64,
    /// Length of the block.
    pub length_bytes: u32,
    /// The defect.
    pub wrong: WrongData,
}

/// How a block differs from the data written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrongData {
    /// The block's data was changed.
    Corrupt,
    /// It contains data written for another offset.
    Misdirected,
    /// It contains old data, which a later write should have replaced.
    Lost,
    /// It has no stamp.
    Unstamped,
}

/// A failed I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedIo {
    /// The errno name: `EIO`, `ENODATA`.
    pub kind: String,
    /// Whether the I/O was a read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read: bool,
    /// Offset of the I/O.
    pub offset_bytes: u64,
    /// Length of the I/O.
    pub length_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}
