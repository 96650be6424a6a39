//! Syncs, which make written data durable: when they are issued, and their response times.

use serde::{Deserialize, Serialize};
use stdx::Histogram;

/// When written data is made durable. Like an I/O, a sync occupies a place in the queue; it neither waits for I/Os
/// in flight nor delays later ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Syncs {
    /// Number of writes after which a thread issues an fsync; 0 for no fsyncs.
    #[serde(skip_serializing_if = "is_zero")]
    pub fsync_writes: u32,
    /// Number of writes after which a thread issues an fdatasync; 0 for none. If an fsync is due at the same
    /// time, only the fsync is issued.
    #[serde(skip_serializing_if = "is_zero")]
    pub fdatasync_writes: u32,
    /// Whether each writing thread issues an fsync after its last I/O; the segment ends after these fsyncs.
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

/// The number and the response times of a segment's syncs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synced {
    /// Completed syncs, except the fsyncs at the end. They are not counted as writes.
    pub syncs: u64,
    /// Response times of these syncs in ns.
    #[serde(with = "crate::histogram_wire")]
    pub latency: Histogram,
    /// Duration in ns of the fsync at the end, in the thread that took longest; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_fsync_ns: Option<u64>,
}

impl Synced {
    /// Adds another segment's syncs.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Regime, Segment, ThinkTime};

    /// A segment from a journal that was written before syncs were recorded.
    const OLD: &str = r#"{"workload":{"access":"random","read_percent":0,"block_bytes":4096,"threads":1,"queue_depth":1,"range":{"start_bytes":0,"segments":1,"segment_bytes":1048576,"stride_bytes":1048576},"data_pattern":"random","until":{"duration_ns":1000000000},"seed":1,"regime":{"ramp_ns":5}},"start_ns":0,"end_ns":1000000000,"read":{"ios":0,"bytes":0,"latency":{"sum_ns":0,"min_ns":0,"max_ns":0,"slots":[]}},"write":{"ios":0,"bytes":0,"latency":{"sum_ns":0,"min_ns":0,"max_ns":0,"slots":[]}},"series":{"interval_ns":1000000000,"read_ios":[0],"write_ios":[0],"latency_mean_ns":[0],"latency_max_ns":[0]},"errors":[],"io_path":{"engine":"io_uring"},"gap_before":null}"#;

    #[test]
    fn segments_without_syncs_are_stored_as_before() {
        let segment: Segment = serde_json::from_str(OLD).unwrap();
        assert!(segment.synced.is_none() && segment.workload.regime.syncs.is_none());
        assert_eq!(serde_json::to_string(&segment).unwrap(), OLD);
    }

    /// The examples in the format's documentation.
    #[test]
    fn syncs_and_pauses_are_stored_as_documented() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/journal-format.md");
        let page = std::fs::read_to_string(page).unwrap();
        let documented = |stored: String| assert!(page.contains(&stored), "{stored}");
        let syncs = Syncs { fsync_writes: 32, end_fsync: true, ..Syncs::NONE };
        let thinktime =
            ThinkTime { length_ns: 2_000_000, spin_ns: 0, ios: 1, count_issued: false, io_time_ns: None };
        let regime = Regime { syncs, thinktime: Some(thinktime), ..Regime::default() };
        let stored = serde_json::to_string(&regime).unwrap();
        assert_eq!(serde_json::from_str::<Regime>(&stored).unwrap(), regime);
        documented(format!(r#"{{"regime":{stored}}}"#));
        let mut synced = Synced { syncs: 2, end_fsync_ns: Some(812_345), ..Synced::default() };
        [791_210, 1_012_004].iter().for_each(|ns| synced.latency.record(*ns));
        let stored = serde_json::to_string(&synced).unwrap();
        assert_eq!(serde_json::from_str::<Synced>(&stored).unwrap(), synced);
        documented(format!(r#"{{"synced":{stored}}}"#));
    }

    #[test]
    fn syncs_occupy_the_queue() {
        let mut segment: Segment = serde_json::from_str(OLD).unwrap();
        segment.host = Some(crate::HostLoad {
            effort: crate::Effort::default(),
            usable_processors: 1,
            processors: 1,
            placement: String::new(),
            polled: false,
            repeats: 0,
            ceiling_share: None,
        });
        segment.write.ios = 100;
        (0..100).for_each(|_| segment.write.latency.record(4_000_000));
        assert_eq!(segment.depth_share(), Some(0.4));
        let mut synced = Synced { syncs: 100, ..Synced::default() };
        (0..100).for_each(|_| synced.latency.record(6_000_000));
        segment.synced = Some(synced);
        assert_eq!(segment.depth_share(), Some(1.0));
    }
}
