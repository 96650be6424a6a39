//! Pauses between the I/Os of a closed loop.

use serde::{Deserialize, Serialize};

/// The pauses that each thread makes. Before a pause, the thread waits until none of its I/Os are in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    /// Length of a pause in ns.
    pub length_ns: u64,
    /// How long the thread busy-waits at the start of each pause, in ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spin_ns: u64,
    /// Number of I/Os that a thread issues between two pauses; 0 if only `io_time_ns` determines when pauses
    /// begin.
    pub ios: u32,
    /// Whether I/Os are counted when they are issued rather than when they complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count_issued: bool,
    /// Maximum time in ns from the end of a pause to the next pause, which begins then even if fewer I/Os
    /// were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_time_ns: Option<u64>,
}

impl ThinkTime {
    pub(crate) fn problem(self) -> Option<&'static str> {
        match self {
            Self { length_ns: 0, .. } => Some("pauses of zero length"),
            Self { ios: 0, io_time_ns: None, .. } => Some("pauses after zero I/Os"),
            Self { io_time_ns: Some(0), .. } => Some("pauses after a time of zero"),
            _ => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}
