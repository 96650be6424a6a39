//! Write data that a drive can compress or deduplicate.

use serde::{Deserialize, Serialize};

/// How much a drive can reduce write data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reducible {
    /// Percentage of each block that a compressor can remove.
    pub compressible_percent: u8,
    /// Percentage of blocks that are duplicates of other blocks.
    pub dedupable_percent: u8,
    /// The blocks that are duplicated; `None` if duplicates repeat the most recent other block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_set: Option<WorkingSet>,
}

/// The blocks of which all duplicates are copies: the first ones that are not duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkingSet {
    /// Number of blocks.
    pub blocks: u64,
    /// The threads that share the set; `None` if each thread has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedSet>,
}

/// A working set that consists of equal parts, each the first blocks of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedSet {
    /// Seed of the data of all threads.
    pub seed: u64,
    /// Number of threads, of all workloads.
    pub threads: u16,
    /// Number of the workload's first thread among them, counted from 0.
    pub first: u16,
}

impl Reducible {
    pub(crate) fn problem(&self) -> Option<String> {
        let Self { compressible_percent, dedupable_percent, working_set } = *self;
        if compressible_percent > 100 || dedupable_percent > 100 {
            return Some(format!(
                "data that is {compressible_percent} % compressible and {dedupable_percent} % duplicate; use 0 to 100"
            ));
        }
        let set = working_set?;
        let is_outside = |shared: SharedSet| shared.first >= shared.threads;
        if set.blocks == 0 || set.shared.is_some_and(is_outside) {
            return Some("duplicates of no block, or of a thread that is not part of the load".into());
        }
        None
    }
}
