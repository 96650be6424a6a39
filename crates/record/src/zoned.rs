//! How a workload uses the zones of a zoned block device.

use serde::{Deserialize, Serialize};

/// How a workload uses the zones of a zoned block device: writes go to the write pointer of a zone, reads stay below it, and
/// trims are zone resets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Zoned {
    /// The size that the zones must have, in bytes; 0 for any.
    #[serde(skip_serializing_if = "is_zero")]
    pub zone_bytes: u64,
    /// Most zones that are partly written at a time, by all workloads of the target; 0 for the limit of the device.
    #[serde(skip_serializing_if = "is_none")]
    pub max_open_zones: u32,
    /// Most of these zones that each thread may open; 0 for no such limit.
    #[serde(skip_serializing_if = "is_none")]
    pub thread_max_open_zones: u32,
    /// Zones are also reset before they are full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_resets: Option<EarlyResets>,
    /// Whether reads may go beyond the write pointer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reads_beyond: bool,
}

/// Resets of zones that are not full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyResets {
    /// They take place while at least this share of the range is written, in thousandths.
    pub threshold_milli: u16,
    /// Resets per thousand writes, 1 to 1000.
    pub per_thousand_writes: u16,
}

impl EarlyResets {
    /// Returns whether both shares are possible.
    pub(crate) fn is_possible(self) -> bool {
        self.threshold_milli <= 1000 && (1..=1000).contains(&self.per_thousand_writes)
    }

    /// Returns the number of writes from one reset to the next.
    #[must_use]
    pub fn writes_per_reset(&self) -> u32 {
        1000 / u32::from(self.per_thousand_writes).max(1)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_none(value: &u32) -> bool {
    *value == 0
}
