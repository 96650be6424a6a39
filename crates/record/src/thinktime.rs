//! Pauses of a closed loop.

use serde::{Deserialize, Serialize};

/// Pauses of each thread. Before a pause, the thread waits for all of its I/Os in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    /// Length of a pause in ns.
    pub length_ns: u64,
    /// Time in ns at the beginning of a pause during which the thread keeps its CPU busy.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spin_ns: u64,
    /// Number of I/Os of a thread from one pause to the next; 0 if only the time counts.
    pub ios: u32,
    /// Whether an I/O counts when it is issued, not when it has completed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count_issued: bool,
    /// Time in ns from the end of a pause to the next one, even if fewer I/Os were counted.
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
