//! Layout of the JSON document, from which its schema is generated. Doc comments in this file are part of the schema.

use schemars::JsonSchema;
use serde::Serialize;

use crate::facts::conformance::Conformance;

/// A run and everything that Plateau says of it. Times in ns, amounts in bytes, unless the key says otherwise.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Version of this layout.
    pub schema_version: u32,
    /// Id of the run.
    pub run: String,
    /// Version of Plateau that ran it.
    pub plateau_version: String,
    /// Version of Plateau that judged it and wrote this document.
    pub judged_by_version: String,
    /// SHA-256 of the journal's chain of records, hexadecimal.
    pub journal_sha256: String,
    /// When the run began (RFC 3339).
    pub created: String,
    /// Command line as given.
    pub command: Vec<String>,
    /// Where an imported run comes from; absent for what Plateau measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginTold>,
    /// Version of the specification, as printed: `PTS-E 1.0`; `NOT PTS` for an imported run.
    pub profile: String,
    pub device: Device,
    pub host: Host,
    pub settings: SettingsTold,
    /// Everything that departs from the profile.
    pub modified: Vec<String>,
    /// What every page is marked with, strongest first.
    pub marks: Vec<MarkTold>,
    /// What the specification wants, what was done, and which records show it, for each test.
    pub conformance: Vec<Conformance>,
    pub tests: Vec<Test>,
    /// Tests that were asked for and not begun, by title.
    pub not_begun: Vec<String>,
}

/// What an imported run was made from. Plateau measured nothing of it.
#[derive(Serialize, JsonSchema)]
pub struct OriginTold {
    /// Format of the file.
    pub format: String,
    /// What measured, with its version.
    pub tool: String,
    /// Name of the file.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub file_sha256: String,
    /// When it was measured, as the file says.
    pub date: Option<String>,
    /// The figures were printed and typed off.
    pub transcribed: bool,
    /// What must be known of the figures.
    pub remarks: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Device {
    pub path: String,
    pub identity: String,
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
    pub interface: Option<String>,
    pub capacity_bytes: u64,
    pub logical_block_bytes: u32,
    pub physical_block_bytes: u32,
    /// Set when the drive is a simulation and no result is that of a real one.
    pub simulated: Option<Simulated>,
}

#[derive(Serialize, JsonSchema)]
pub struct Simulated {
    /// In short, as it stands beside numbers elsewhere: `SIMULATED sas-slc-2011 v2 1/512 seed 1`.
    pub label: String,
    pub model: String,
    pub model_version: u32,
    /// Capacity and test minutes are divided by this.
    pub scale_divisor: u32,
    pub seed: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct Host {
    pub cpu: Option<String>,
    pub cpus: Option<u32>,
    pub board: Option<String>,
    pub memory_bytes: Option<u64>,
    pub os: Option<String>,
    pub kernel: Option<String>,
    pub governor: Option<String>,
    pub scheduler: Option<String>,
    pub pcie_link: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct SettingsTold {
    pub threads: u16,
    pub queue_depth: u16,
    pub cell_ns: u64,
    pub max_rounds: u32,
    pub precondition_capacities: u32,
    pub precondition_range_percent: u8,
    pub test_range_percent: u8,
    /// All of the range when null.
    pub active_range_amount_bytes: Option<u64>,
    pub active_range_segments: u32,
    pub seed: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct MarkTold {
    /// `SIMULATED`, `SS NOT ACHIEVED`, `NOT COMPLETE`, `INTERRUPTED` or `MODIFIED`.
    pub title: String,
    pub details: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Test {
    /// Name of the test: `iops`.
    pub test: String,
    pub title: String,
    pub clause: String,
    /// `REQUIRED`, `OPTIONAL` or that the profile has no such test.
    pub requirement: String,
    pub purge: String,
    pub threads: u16,
    pub queue_depth: u16,
    /// Finished rounds.
    pub rounds: u32,
    /// Whether steady state was reached; null while not complete and for a test without one.
    pub converged: Option<bool>,
    /// Why the test is not complete, if it is not.
    pub stopped: Option<String>,
    pub steady_state: Vec<Window>,
    pub figures: Vec<Figure>,
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    pub notes: Vec<String>,
    pub modified: Vec<String>,
    /// Every workload in the order of the journal.
    pub cells: Vec<Cell>,
}

/// The five rounds that decided, for one tracking variable, in the unit of the test.
#[derive(Serialize, JsonSchema)]
pub struct Window {
    pub variable: String,
    pub first_round: u32,
    pub last_round: u32,
    pub mean: f64,
    pub data_excursion: f64,
    pub data_excursion_allowed: f64,
    pub slope_per_round: f64,
    pub intercept: f64,
    pub slope_excursion: f64,
    pub slope_excursion_allowed: f64,
    pub correlation: Option<f64>,
    pub steady: bool,
    /// Whether the host may have set one of the values, and not the drive.
    pub host_limited: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct Figure {
    pub name: String,
    /// Null where not measured.
    pub value: Option<f64>,
    /// `IOPS`, `MB/s`, `ms` and so on, as printed.
    pub unit: String,
    /// Whether the host may have set it and not the drive.
    pub host_limited: bool,
}

/// A table of the report; its values are unrounded.
#[derive(Serialize, JsonSchema)]
pub struct Table {
    pub page: String,
    pub heading: String,
    pub row_heading: String,
    pub column_heading: String,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
pub struct Row {
    pub name: String,
    /// One per column; null where there is no number.
    pub values: Vec<Option<f64>>,
    /// Why there is no number, one per column; empty where there is one.
    pub absent: Vec<String>,
    /// Whether the host may have set the number and not the drive, one per column.
    pub host_limited: Vec<bool>,
}

/// A chart of points: what the report draws.
#[derive(Serialize, JsonSchema)]
pub struct Chart {
    pub page: String,
    pub x: String,
    pub y: String,
    pub series: Vec<Series>,
}

#[derive(Serialize, JsonSchema)]
pub struct Series {
    pub name: String,
    /// As pairs of x and y.
    pub points: Vec<(f64, f64)>,
}

/// One workload as it was answered.
#[derive(Serialize, JsonSchema)]
pub struct Cell {
    /// Record of the journal.
    pub record: u64,
    /// `precondition` or `measure`.
    pub phase: String,
    pub round: Option<u32>,
    /// Whether results are taken from this round.
    pub in_window: bool,
    /// In the notation of the PTS: `RND 4KiB W`.
    pub workload: String,
    /// `random` or `sequential`.
    pub access: String,
    pub block_bytes: u32,
    pub read_percent: u8,
    pub threads: u16,
    pub queue_depth: u16,
    pub start_ns: u64,
    pub duration_ns: u64,
    pub iops: f64,
    pub bytes_per_second: f64,
    pub read: Way,
    pub write: Way,
    pub errors: u64,
    pub engine: String,
    /// Length of an interruption right before, if there was one.
    pub gap_before_ns: Option<u64>,
    /// Share of what the host can do at most, 0 to 1; null where no host drove it, as for a simulated drive.
    pub host_share: Option<f64>,
    /// Processor time of the threads of the load outside of the kernel; null as `host_share`.
    pub user_ns: Option<u64>,
    /// The same inside of the kernel.
    pub system_ns: Option<u64>,
    /// Context switches of these threads that they asked for.
    pub voluntary_switches: Option<u64>,
    /// Those that the kernel decided on.
    pub involuntary_switches: Option<u64>,
    /// Whether the host may have set the result and not the drive: `host_share` is above 0.7.
    pub host_limited: bool,
}

/// Reads or writes of a workload. A percentile is null when fewer than ten I/Os lie beyond it; maxima are null on a
/// scaled simulated drive.
#[derive(Serialize, JsonSchema)]
pub struct Way {
    pub ios: u64,
    pub bytes: u64,
    pub latency_min_ns: Option<u64>,
    pub latency_mean_ns: Option<f64>,
    pub latency_p50_ns: Option<u64>,
    pub latency_p99_ns: Option<u64>,
    pub latency_p99_9_ns: Option<u64>,
    pub latency_p99_99_ns: Option<u64>,
    pub latency_p99_999_ns: Option<u64>,
    pub latency_max_ns: Option<u64>,
}
