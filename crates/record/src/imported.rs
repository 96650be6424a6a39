//! What another tool or a publication says of a drive: figures without the I/Os behind them.

use serde::{Deserialize, Serialize};
use stdx::Histogram;

use crate::Access;

/// Where an imported run comes from. Plateau measured nothing of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Format of the file: `TKperf XML`.
    pub format: String,
    /// What measured, with its version; stands where a run of Plateau has its profile: `TKperf 2.2`.
    pub tool: String,
    /// Name of the file.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// When it was measured, as the file says.
    pub date: Option<String>,
    /// The figures were printed somewhere and typed off; there is no file of the tool.
    pub transcribed: bool,
    /// What a reader must know of the figures: weighting, units, what the file says of itself that is not so.
    pub remarks: Vec<String>,
}

/// One test as the file tells it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportedTest {
    /// Its kind: `iops`, `lat`, `tp`, `wsat`, `areas-iops`, `areas-tp`, `jobs`.
    pub test: String,
    /// What was done, in words.
    pub outline: String,
    /// How the drive was prepared, in words; absent where the file does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<String>,
    /// Preconditioning, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preconditioning: Option<String>,
    /// PC AR, Test AR, AR Amount and AR Segments as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_range: Option<[String; 4]>,
    /// When it was run, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// Outstanding I/Os per thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u16>,
    /// Block size of the variable that decided steady state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracked_block_bytes: Option<u32>,
    /// First and last round that results are taken from; rounds count from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<(u32, u32)>,
    /// Whether the source says that steady state was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<bool>,
    /// Length of a round, where rounds are a time line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_ns: Option<u64>,
    /// Figures that are no workload of a loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<ToldFigure>,
    /// Everything that was measured.
    pub readings: Vec<Reading>,
}

/// A figure with its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldFigure {
    /// Such as `RND 4KiB W, FOB`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit: `IOPS`, `min`, `GB`.
    pub unit: String,
}

/// What is said of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Order of the addresses.
    pub access: Access,
    /// Share of reads, 0 to 100.
    pub read_percent: u8,
    /// Bytes per I/O; 0 where I/Os differ.
    pub block_bytes: u32,
    /// Round (or area of the disk) from 1; absent for a mean over the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Name of the job, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Threads, where they are the workload's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// Outstanding I/Os per thread, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u16>,
    /// I/Os, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ios: Option<u64>,
    /// Reads and writes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Mean response time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_mean_ns: Option<f64>,
    /// Largest response time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_max_ns: Option<f64>,
    /// Percentiles as told: percent and ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles_ns: Vec<(f64, f64)>,
    /// Response times, where every one of them is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
}

/// Response times in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times(#[serde(with = "crate::histogram_wire")] pub Histogram);

impl Reading {
    /// A reading of a workload that says nothing yet.
    #[must_use]
    pub const fn of(access: Access, read_percent: u8, block_bytes: u32) -> Self {
        Self {
            access,
            read_percent,
            block_bytes,
            round: None,
            name: None,
            threads: None,
            queue_depth: None,
            ios: None,
            iops: None,
            bytes_per_second: None,
            latency_mean_ns: None,
            latency_max_ns: None,
            percentiles_ns: Vec::new(),
            times: None,
        }
    }
}
