//! Layout of the JSON document, from which its schema is generated. Doc comments in this file are part of the schema.

use schemars::JsonSchema;
use serde::Serialize;

use super::on_file::{CellOnFile, ReportFileSystem, TestFileShare};
use super::settings::ReportSettings;
use crate::facts::conformance::Conformance;

/// A run and its results. Times are in ns and amounts in bytes unless the key names another unit.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Version of the document's layout.
    pub schema_version: u32,
    /// Id of the run.
    pub run: String,
    /// Version of Plateau that measured the run.
    pub plateau_version: String,
    /// Version of Plateau that judged the run and wrote this document.
    pub judged_by_version: String,
    /// SHA-256 of the chain of journal records, hexadecimal.
    pub journal_sha256: String,
    /// Start of the run (RFC 3339).
    pub created: String,
    /// Command line as the user entered it.
    pub command: Vec<String>,
    /// Origin of an imported run; absent for runs measured by Plateau.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<ReportOrigin>,
    /// Revision of the specification as printed: `PTS-E 1.0`; `NOT PTS` for an imported run.
    pub profile: String,
    pub device: Device,
    pub host: Host,
    pub stated: Stated,
    /// Null for an imported run whose file does not contain them.
    pub settings: Option<ReportSettings>,
    /// The power meter; null if power was not measured, or if an imported file does not contain it.
    pub power: Option<ReportPower>,
    /// The file system of a target that is a file; null for other targets, or if it is not known.
    pub file_system: Option<ReportFileSystem>,
    /// All deviations from the profile, or those listed in an imported file.
    pub modified: Vec<String>,
    /// Marks of all pages, strongest first.
    pub marks: Vec<ReportMark>,
    /// For each test: the requirements of the specification, what was done, and the records that show it.
    pub conformance: Vec<Conformance>,
    pub tests: Vec<Test>,
    /// Titles of the requested tests that were not started.
    pub not_begun: Vec<String>,
}

/// Source of an imported run, which Plateau did not measure.
#[derive(Serialize, JsonSchema)]
pub struct ReportOrigin {
    /// Format of the file.
    pub format: String,
    /// Measuring tool with its version.
    pub tool: String,
    /// Name of the file.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub file_sha256: String,
    /// Date of the measurement, as stated in the file.
    pub date: Option<String>,
    /// Whether the figures were transcribed from a publication.
    pub transcribed: bool,
    /// The run that was exported to the file; null if Plateau did not write it.
    pub exported_run: Option<String>,
    /// Revision of the specification, as stated in the file.
    pub profile: Option<String>,
    /// Remarks needed to interpret the figures.
    pub remarks: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Device {
    /// Null if an imported file does not contain it, like all other values that a file may lack.
    pub path: Option<String>,
    pub identity: Option<String>,
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
    pub interface: Option<String>,
    pub nand: Option<String>,
    pub capacity_bytes: Option<u64>,
    pub logical_block_bytes: Option<u32>,
    pub physical_block_bytes: Option<u32>,
    /// Label of the simulated drive, including in imported runs; null for a real one.
    pub simulated_label: Option<String>,
    /// Set if the drive is simulated, in which case no result was measured on a real drive.
    pub simulated: Option<Simulated>,
}

#[derive(Serialize, JsonSchema)]
pub struct Simulated {
    /// Label that accompanies its numbers: `SIMULATED sas-slc-2011 v2 1/512 seed 1`.
    pub label: String,
    pub model: String,
    pub model_version: u32,
    /// Factor by which capacity and test times are divided.
    pub scale_divisor: u32,
    pub seed: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct Host {
    pub cpu: Option<String>,
    pub cpus: Option<u32>,
    /// Microcode revision of the processor.
    pub microcode: Option<String>,
    pub board: Option<String>,
    pub bios_version: Option<String>,
    pub memory_bytes: Option<u64>,
    pub os: Option<String>,
    pub kernel: Option<String>,
    pub kernel_command_line: Option<String>,
    pub governor: Option<String>,
    pub scheduler: Option<String>,
    pub pcie_link: Option<String>,
}

/// Information from the operator about the tester and the test platform; null if not stated.
#[derive(Serialize, JsonSchema)]
pub struct Stated {
    /// Company that ran the test.
    pub company: Option<String>,
    pub chassis: Option<String>,
    pub cooler: Option<String>,
    pub power_supply: Option<String>,
    pub links: Vec<Link>,
}

/// A web page about a component of the test platform.
#[derive(Serialize, JsonSchema)]
pub struct Link {
    /// Name of the component; empty if not stated.
    pub name: String,
    pub address: String,
}

/// The power meter used in a run.
#[derive(Serialize, JsonSchema)]
pub struct ReportPower {
    /// As requested: `hwmon:nvme`; null if an imported file does not contain it.
    pub source: Option<String>,
    /// Description of the meter; null if an imported file does not contain it.
    pub meter: Option<String>,
    /// `drive`; `host`: only the part above the idle power is attributed to a workload; `upper_bound`: the most that
    /// the drive can draw, so values per watt are lower bounds.
    pub subject: String,
    /// Smallest difference between two values; null if unknown.
    pub resolution_watts: Option<f64>,
    /// Tolerance of the values; null if unknown, in which case uncertainties do not include it.
    pub tolerance_percent: Option<f64>,
    /// Idle power before the first test; null if not measured.
    pub idle_watts: Option<Uncertain>,
}

/// A value with its uncertainty: tolerance and half the resolution of the meter, plus twice the standard error of the mean.
#[derive(Serialize, JsonSchema)]
pub struct Uncertain {
    pub value: f64,
    /// Null if it is not known, for example because there is only one sample.
    pub uncertainty: Option<f64>,
}

/// Power during a workload.
#[derive(Serialize, JsonSchema)]
pub struct CellPower {
    pub mean_watts: f64,
    pub min_watts: f64,
    pub max_watts: f64,
    pub samples: u32,
    /// Performance of the workload per watt; null if no power can be attributed to the workload.
    pub efficiency: Option<CellEfficiency>,
}

/// Performance of a workload per watt.
#[derive(Serialize, JsonSchema)]
pub struct CellEfficiency {
    /// Power attributed to the workload.
    pub watts: Uncertain,
    pub iops_per_watt: Uncertain,
    pub bytes_per_second_per_watt: Uncertain,
}

/// Performance of a workload per watt, averaged over the rounds of the window.
#[derive(Serialize, JsonSchema)]
pub struct TestEfficiency {
    /// In the notation of the PTS, with TC and QD.
    pub workload: String,
    /// Number of rounds whose power is known; null if an imported file does not contain it.
    pub rounds: Option<u64>,
    /// Mean over these rounds; null if not measured.
    pub mean: Option<CellEfficiency>,
}

#[derive(Serialize, JsonSchema)]
pub struct ReportMark {
    /// `imported`, `simulated`, `not-achieved`, `not-complete`, `interrupted` or `modified`.
    pub mark: String,
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
    /// `REQUIRED`, `OPTIONAL`, or a note that the profile has no such test.
    pub requirement: String,
    /// Start of the test (RFC 3339), or its date as worded in an imported file. Null if the file does not contain it;
    /// this also applies to the keys up to `queue_depth`.
    pub date: Option<String>,
    pub purge: Option<String>,
    /// Workload-independent preconditioning as printed: `2X SEQ/128KiB`, `None`.
    pub preconditioning: Option<String>,
    pub active_range: Option<ActiveRange>,
    pub threads: Option<u16>,
    pub queue_depth: Option<u16>,
    /// Completed rounds.
    pub rounds: u32,
    /// Whether steady state was reached; null for incomplete tests and tests without steady state.
    pub converged: Option<bool>,
    /// Why the test is incomplete; null if it is complete.
    pub stopped: Option<String>,
    /// Whether a burn-in accepts the drive; null for other tests, and before the decision.
    pub acceptance: Option<Acceptance>,
    pub steady_state: Vec<Window>,
    pub figures: Vec<Figure>,
    /// Marks on the WSAT curve; empty for other tests.
    pub marks: Vec<CurveMark>,
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    /// Performance per watt of each workload in the window; empty if there is no power source.
    pub efficiency: Vec<TestEfficiency>,
    /// The I/O overhead of the file system in each workload of the window; empty if the target is not a file.
    pub file_share: Vec<TestFileShare>,
    pub notes: Vec<String>,
    pub modified: Vec<String>,
    /// Number of I/Os that the device failed, most of them in workloads that did not complete and are not in `cells`;
    /// null if an imported file does not contain it.
    pub io_errors: Option<u64>,
    /// All workloads in journal order: those completed, or those that an imported file reports.
    pub cells: Vec<Cell>,
}

/// The active range of a test, as printed.
#[derive(Serialize, JsonSchema)]
pub struct ActiveRange {
    /// Share of the LBA space that preconditioning accesses (PC AR): `100%`.
    pub precondition: String,
    /// Share of the LBA space that the test accesses (Test AR): `100%`.
    pub test: String,
    /// AR Amount: `16 GiB`, or `100%`.
    pub amount: String,
    /// AR Segments: `2048`, or `N/A`.
    pub segments: String,
}

/// The verdict of a burn-in.
#[derive(Serialize, JsonSchema)]
pub struct Acceptance {
    /// `PASS` or `FAIL`.
    pub verdict: String,
    /// Why the drive is rejected.
    pub reasons: Vec<Reason>,
    /// Limits that were not checked because the drive does not report the value.
    pub unchecked: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Reason {
    /// `data`, `io`, `grown`, `above`, `below` or `critical_warning`.
    pub reason: String,
    pub text: String,
    /// Offset on the drive at which the fault occurred; null if it cannot be assigned to an offset.
    pub offset_bytes: Option<u64>,
}

/// The five-round measurement window of one tracking variable.
#[derive(Serialize, JsonSchema)]
pub struct Window {
    pub variable: String,
    /// Unit of the mean and the excursions.
    pub unit: Option<String>,
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
    /// Whether a value may reflect the host rather than the drive.
    pub host_limited: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct Figure {
    pub name: String,
    /// Last part of the key in comparisons, if the name contains results; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Null if not measured.
    pub value: Option<f64>,
    /// Unit as printed, such as `IOPS`, `MB/s` or `ms`.
    pub unit: String,
    /// Whether the figure may reflect the host rather than the drive.
    pub host_limited: bool,
}

/// A mark on a curve. The PTS gives these marks names, but does not define them.
#[derive(Serialize, JsonSchema)]
pub struct CurveMark {
    /// `fob`, `steady`, `peak-drop` or `time-to-steady`.
    pub mark: String,
    /// Name as printed.
    pub name: String,
    /// `IOPS`, or `min` since the start of the test.
    pub unit: String,
    /// The computed value; null if there is none.
    pub computed: Option<f64>,
    /// The value that the tester set in its place; null if none was set.
    pub set_by_tester: Option<f64>,
    /// Bytes written up to the time of the mark; null for marks in IOPS.
    pub written_bytes: Option<u64>,
}

/// A table of the report with unrounded values.
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
    /// One value per column; null if there is none.
    pub values: Vec<Option<f64>>,
    /// Reason for each missing value, one per column; empty for existing values.
    pub absent: Vec<String>,
    /// Whether each value may reflect the host rather than the drive, one per column.
    pub host_limited: Vec<bool>,
    /// Unit of each value, one per column; empty for a ratio.
    pub units: Vec<String>,
}

/// A line chart of the report.
#[derive(Serialize, JsonSchema)]
pub struct Chart {
    pub page: String,
    /// How to read the chart, in one sentence.
    pub reading: String,
    /// What the chart shows: `convergence`, `by-block-size`, `saturation`, ...
    pub shows: String,
    pub x: String,
    /// `linear-from-zero`, `linear-zoomed`, `integer`, `rounds`, `log10` or `log2`.
    pub x_scale: String,
    pub y: String,
    pub y_scale: String,
    pub series: Vec<Series>,
}

#[derive(Serialize, JsonSchema)]
pub struct Series {
    pub name: String,
    /// Pairs of x and y.
    pub points: Vec<(f64, f64)>,
}

/// One completed workload, or the reported results of one. Values missing from an imported file are null.
#[derive(Serialize, JsonSchema)]
pub struct Cell {
    /// Sequence number of the journal record.
    pub record: u64,
    /// Name of an imported job.
    pub job: Option<String>,
    /// `precondition` or `measure`; null if an imported file does not contain it.
    pub phase: Option<String>,
    pub round: Option<u32>,
    /// Whether the round belongs to the window that determined the verdict on its round loop (preconditioning
    /// loops included). An imported mean over the window has no round and belongs to it.
    pub in_window: bool,
    /// Whether the results of the test are based on this workload: it is measured in the window of the last round
    /// loop and, if only one step of a round counts, is that step. Null if an imported file does not contain it.
    pub in_results: Option<bool>,
    /// In the notation of the PTS: `RND 4KiB W`.
    pub workload: String,
    /// `random` or `sequential`.
    pub access: String,
    /// Null if the sizes of I/Os differ.
    pub block_bytes: Option<u32>,
    pub read_percent: u8,
    pub threads: Option<u16>,
    pub queue_depth: Option<u16>,
    pub start_ns: Option<u64>,
    pub duration_ns: Option<u64>,
    pub iops: Option<f64>,
    pub bytes_per_second: Option<f64>,
    /// Response times of reads and writes combined.
    pub latency: Latency,
    pub ios: Option<u64>,
    /// Null if an imported file does not report reads and writes separately.
    pub read: Option<Way>,
    pub write: Option<Way>,
    pub errors: Option<u64>,
    pub engine: Option<String>,
    /// Length of the interruption immediately before the workload, if any.
    pub gap_before_ns: Option<u64>,
    /// Share of the host's capability used, from 0 to 1; null if no host drove the workload, as for simulated drives.
    pub host_share: Option<f64>,
    /// CPU time of the load threads in user mode; null if `host_share` is null.
    pub user_ns: Option<u64>,
    /// CPU time of the load threads in kernel mode.
    pub system_ns: Option<u64>,
    /// Voluntary context switches of the load threads.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches of the load threads.
    pub involuntary_switches: Option<u64>,
    /// Whether the result may reflect the host rather than the drive, because `host_share` exceeds 0.7.
    pub host_limited: Option<bool>,
    /// Null if not measured.
    pub power: Option<CellPower>,
    /// Null if the target is not a file.
    pub on_file: Option<CellOnFile>,
}

/// Response times of all I/Os of a workload. A percentile is null if fewer than ten I/Os lie beyond it; maxima are null
/// for scaled simulated drives.
#[derive(Serialize, JsonSchema)]
pub struct Latency {
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    pub p99_9_ns: Option<f64>,
    pub p99_99_ns: Option<f64>,
    pub p99_999_ns: Option<f64>,
    pub max_ns: Option<f64>,
}

/// Reads or writes of a workload. A percentile is null if fewer than ten I/Os lie beyond it; maxima are null for scaled
/// simulated drives.
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
