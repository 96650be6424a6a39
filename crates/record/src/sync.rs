//! Syncs, which make written data durable: when they are issued, and their response times.

use serde::{Deserialize, Serialize};
use stdx::Histogram;

/// When written data is made durable. A sync occupies a place in the queue, like an I/O, and neither waits for the
/// I/Os in flight nor delays the following ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Syncs {
    /// Number of writes of a thread after which it issues an fsync; 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub fsync_writes: u32,
    /// Number of writes of a thread after which it issues an fdatasync; 0 for none. If both are due, only the fsync
    /// is issued.
    #[serde(skip_serializing_if = "is_zero")]
    pub fdatasync_writes: u32,
    /// Whether each thread that writes ends with an fsync, after its last I/O. The segment ends after it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub end_fsync: bool,
    /// What is durable when a write completes; `None` for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each_write: Option<EachWrite>,
}

/// What is durable when a write completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EachWrite {
    /// Data and metadata, as with `O_SYNC`.
    Sync,
    /// Data, as with `O_DSYNC`.
    Dsync,
}

impl Syncs {
    /// No syncs.
    pub const NONE: Self = Self { fsync_writes: 0, fdatasync_writes: 0, end_fsync: false, each_write: None };

    /// Returns whether nothing is made durable.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Returns whether syncs are issued between writes.
    #[must_use]
    pub const fn are_periodic(&self) -> bool {
        self.fsync_writes > 0 || self.fdatasync_writes > 0
    }
}

/// The syncs of a segment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synced {
    /// Completed syncs, without those at the end. They are not counted as writes.
    pub syncs: u64,
    /// Response times of these syncs in ns.
    #[serde(with = "crate::histogram_wire")]
    pub latency: Histogram,
    /// Time in ns that the fsync at the end took, as the maximum over all threads; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_fsync_ns: Option<u64>,
}

impl Synced {
    /// Adds the syncs of another segment.
    pub fn add(&mut self, other: &Self) {
        self.syncs += other.syncs;
        self.latency.merge(&other.latency);
        self.end_fsync_ns = self.end_fsync_ns.max(other.end_fsync_ns);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}
