//! The parts of the JSON document that an import reads. Other keys are ignored, because the schema allows new
//! keys.

use record::{
    Access, CellPower, Driven, ExportedCell, ExportedReason, ExportedRow, ExportedSeries, ExportedTable,
    ExportedWindow, MarkKind, OnFile, StatedMark, WorkloadEfficiency, WorkloadFileShare,
};
use serde::Deserialize;
use serde_json::Value;

/// The part that is read first.
#[derive(Deserialize)]
pub(super) struct Versioned {
    pub schema_version: u32,
}

#[derive(Deserialize)]
pub(super) struct Report {
    pub run: String,
    pub plateau_version: String,
    pub created: String,
    pub origin: Option<Origin>,
    pub profile: String,
    pub device: Drive,
    #[serde(default)]
    pub host: Value,
    #[serde(default)]
    pub stated: Value,
    #[serde(default)]
    pub settings: Value,
    #[serde(default)]
    pub power: Value,
    #[serde(default)]
    pub file_system: Value,
    pub marks: Vec<Mark>,
    pub tests: Vec<Test>,
    #[serde(default)]
    pub not_begun: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Origin {
    pub tool: String,
    pub date: Option<String>,
    pub transcribed: bool,
    pub profile: Option<String>,
    pub remarks: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Drive {
    pub path: Option<String>,
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
    pub interface: Option<String>,
    pub nand: Option<String>,
    pub capacity_bytes: Option<u64>,
    pub logical_block_bytes: Option<u32>,
    pub physical_block_bytes: Option<u32>,
    pub simulated_label: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Mark {
    mark: MarkKind,
    details: Vec<String>,
}

impl Mark {
    pub fn stated(self) -> StatedMark {
        StatedMark { mark: self.mark, details: self.details }
    }
}

#[derive(Deserialize)]
pub(super) struct Test {
    pub test: String,
    pub title: String,
    #[serde(default)]
    pub date: Option<String>,
    pub purge: Option<String>,
    #[serde(default)]
    pub preconditioning: Option<String>,
    #[serde(default)]
    pub active_range: Option<ActiveRange>,
    pub threads: Option<u16>,
    pub queue_depth: Option<u16>,
    pub rounds: Option<u32>,
    pub converged: Option<bool>,
    pub stopped: Option<String>,
    pub acceptance: Option<Acceptance>,
    pub steady_state: Vec<Window>,
    pub figures: Vec<Figure>,
    pub marks: Vec<CurveMark>,
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    pub notes: Vec<String>,
    #[serde(default)]
    pub modified: Vec<String>,
    #[serde(default)]
    pub io_errors: Option<u64>,
    #[serde(default)]
    pub efficiency: Vec<WorkloadEfficiency>,
    #[serde(default)]
    pub file_share: Vec<WorkloadFileShare>,
    pub cells: Vec<Cell>,
}

#[derive(Deserialize)]
pub(super) struct ActiveRange {
    precondition: String,
    test: String,
    amount: String,
    segments: String,
}

impl ActiveRange {
    pub fn stated(self) -> [String; 4] {
        [self.precondition, self.test, self.amount, self.segments]
    }
}

#[derive(Deserialize)]
pub(super) struct Acceptance {
    pub reasons: Vec<Reason>,
    pub unchecked: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Reason {
    reason: String,
    text: String,
    offset_bytes: Option<u64>,
}

impl Reason {
    pub fn exported(self) -> ExportedReason {
        ExportedReason { reason: self.reason, text: self.text, offset_bytes: self.offset_bytes }
    }
}

#[derive(Deserialize)]
pub(super) struct Window {
    variable: String,
    #[serde(default)]
    pub unit: Option<String>,
    first_round: u32,
    last_round: u32,
    mean: f64,
    data_excursion: f64,
    data_excursion_allowed: f64,
    slope_per_round: f64,
    intercept: f64,
    slope_excursion: f64,
    slope_excursion_allowed: f64,
    correlation: Option<f64>,
    steady: bool,
    host_limited: bool,
}

impl Window {
    pub fn exported(self) -> ExportedWindow {
        ExportedWindow {
            variable: self.variable,
            first_round: self.first_round,
            last_round: self.last_round,
            mean: self.mean,
            data_excursion: self.data_excursion,
            data_excursion_allowed: self.data_excursion_allowed,
            slope_per_round: self.slope_per_round,
            intercept: self.intercept,
            slope_excursion: self.slope_excursion,
            slope_excursion_allowed: self.slope_excursion_allowed,
            correlation: self.correlation,
            steady: self.steady,
            host_limited: self.host_limited,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Figure {
    pub name: String,
    pub key: Option<String>,
    pub value: Option<f64>,
    pub unit: String,
    pub host_limited: bool,
}

#[derive(Deserialize)]
pub(super) struct CurveMark {
    pub mark: String,
    pub name: String,
    pub unit: String,
    pub computed: Option<f64>,
    pub set_by_tester: Option<f64>,
    pub written_bytes: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Table {
    page: String,
    heading: String,
    row_heading: String,
    column_heading: String,
    columns: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    values: Vec<Option<f64>>,
    absent: Vec<String>,
    host_limited: Vec<bool>,
    #[serde(default)]
    units: Vec<String>,
}

impl Table {
    pub fn exported(self) -> ExportedTable {
        let row = |row: Row| ExportedRow {
            name: row.name,
            values: row.values,
            absent: row.absent,
            host_limited: row.host_limited,
            units: row.units,
        };
        ExportedTable {
            page: self.page,
            heading: self.heading,
            row_heading: self.row_heading,
            column_heading: self.column_heading,
            columns: self.columns,
            rows: self.rows.into_iter().map(row).collect(),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Chart {
    pub page: String,
    pub shows: String,
    pub x: String,
    pub x_scale: String,
    pub y: String,
    pub y_scale: String,
    series: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Chart {
    pub fn series(self) -> Vec<ExportedSeries> {
        let all = self.series.into_iter();
        all.map(|one| ExportedSeries { name: one.name, points: one.points }).collect()
    }
}

/// A workload that Plateau measured, or that the file of an imported run contains.
#[derive(Deserialize)]
pub(super) struct Cell {
    pub job: Option<String>,
    pub phase: Option<String>,
    pub round: Option<u32>,
    pub in_window: bool,
    pub access: Access,
    pub block_bytes: Option<u32>,
    pub read_percent: u8,
    pub threads: Option<u16>,
    pub queue_depth: Option<u16>,
    pub iops: Option<f64>,
    pub bytes_per_second: Option<f64>,
    pub latency: Latency,
    pub ios: Option<u64>,
    pub read: Option<Way>,
    pub write: Option<Way>,
    pub host_limited: Option<bool>,
    in_results: Option<bool>,
    workload: Option<String>,
    start_ns: Option<u64>,
    duration_ns: Option<u64>,
    errors: Option<u64>,
    engine: Option<String>,
    gap_before_ns: Option<u64>,
    host_share: Option<f64>,
    user_ns: Option<u64>,
    system_ns: Option<u64>,
    voluntary_switches: Option<u64>,
    involuntary_switches: Option<u64>,
    power: Option<CellPower>,
    on_file: Option<OnFile>,
}

impl Cell {
    /// Returns the facts that only Plateau's own exports contain.
    pub fn stated(&self) -> ExportedCell {
        ExportedCell {
            workload: self.workload.clone(),
            in_results: self.in_results,
            driven: Driven {
                start_ns: self.start_ns,
                duration_ns: self.duration_ns,
                errors: self.errors,
                engine: self.engine.clone(),
                gap_before_ns: self.gap_before_ns,
                host_share: self.host_share,
                user_ns: self.user_ns,
                system_ns: self.system_ns,
                voluntary_switches: self.voluntary_switches,
                involuntary_switches: self.involuntary_switches,
            },
            power: self.power,
            on_file: self.on_file,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Latency {
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    pub p99_9_ns: Option<f64>,
    pub p99_99_ns: Option<f64>,
    pub p99_999_ns: Option<f64>,
    pub max_ns: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Way {
    pub ios: u64,
    pub bytes: u64,
    pub latency_min_ns: Option<f64>,
    pub latency_mean_ns: Option<f64>,
    pub latency_p50_ns: Option<f64>,
    pub latency_p99_ns: Option<f64>,
    pub latency_p99_9_ns: Option<f64>,
    pub latency_p99_99_ns: Option<f64>,
    pub latency_p99_999_ns: Option<f64>,
    pub latency_max_ns: Option<f64>,
}
