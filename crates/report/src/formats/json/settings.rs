//! Layout of the settings in the JSON document. Doc comments in this file are part of the schema.

use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
pub struct ReportSettings {
    pub threads: u16,
    pub queue_depth: u16,
    /// Whether the tester chose the thread count or the queue depth, even if the chosen value is the one in the profile.
    pub demand_is_chosen: bool,
    pub cell_ns: u64,
    pub max_rounds: u32,
    pub precondition_capacities: u32,
    pub precondition_range_percent: u8,
    pub test_range_percent: u8,
    /// Null if the whole range is active.
    pub active_range_amount_bytes: Option<u64>,
    pub active_range_segments: u32,
    /// Whether ECW and CBW replace I/Os smaller than a sector.
    pub composite_fits_sectors: bool,
    pub dirth: DirthSettings,
    pub wsat: WsatSettings,
    pub seed: u64,
}

/// The workload that the tester chose for DIRTH; values that were not chosen are null.
#[derive(Serialize, JsonSchema)]
pub struct DirthSettings {
    pub block_bytes: Option<u32>,
    pub read_percent: Option<u8>,
}

/// Length and workload that the tester chose for WSAT; values that were not chosen are null.
#[derive(Serialize, JsonSchema)]
pub struct WsatSettings {
    pub capacities: Option<u32>,
    pub hours: Option<u32>,
    /// `first`, `all` or `time`.
    pub until: Option<String>,
    /// `oltp`, `video`, `metadata` or `composite`.
    pub workload: Option<String>,
}
