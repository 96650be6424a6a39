//! The whole report as one JSON document with a published schema (docs/report-schema.json).

use pts::exhibit::{self, Exhibit};
use pts::steady::Steadiness;
use pts::{Outcome, response};
use record::{Direction, Settings};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Export, Make, Source, csv};
use crate::Conformance;
use crate::answers::{Answer, answers, percentile_ns};

/// The format.
pub(super) const EXPORT: Export = Export {
    name: "json-file",
    about: "the whole report as one JSON document (schema: docs/report-schema.json)",
    make: Make::File(document),
};

/// Version of the schema. A key that is added leaves it; one that goes or changes its meaning raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// A run and everything that Plateau says of it. Times in ns, amounts in bytes, unless the key says otherwise.
#[derive(Serialize, JsonSchema)]
struct Report {
    /// Version of this layout.
    schema_version: u32,
    /// Id of the run.
    run: String,
    /// Version of Plateau that ran it.
    plateau_version: String,
    /// Version of Plateau that judged it and wrote this document.
    judged_by_version: String,
    /// SHA-256 of the journal's chain of records, hexadecimal.
    journal_sha256: String,
    /// When the run began (RFC 3339).
    created: String,
    /// Command line as given.
    command: Vec<String>,
    /// Where an imported run comes from; absent for what Plateau measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginTold>,
    /// Version of the specification, as printed: `PTS-E 1.0`; `NOT PTS` for an imported run.
    profile: String,
    device: Device,
    host: Host,
    settings: SettingsTold,
    /// Everything that departs from the profile.
    modified: Vec<String>,
    /// What every page is marked with, strongest first.
    marks: Vec<MarkTold>,
    /// What the specification wants, what was done, and which records show it, for each test.
    conformance: Vec<Conformance>,
    tests: Vec<Test>,
    /// Tests that were asked for and not begun, by title.
    not_begun: Vec<String>,
}

/// What an imported run was made from. Plateau measured nothing of it.
#[derive(Serialize, JsonSchema)]
struct OriginTold {
    /// Format of the file.
    format: String,
    /// What measured, with its version.
    tool: String,
    /// Name of the file.
    file: String,
    /// SHA-256 of the file, hexadecimal.
    file_sha256: String,
    /// When it was measured, as the file says.
    date: Option<String>,
    /// The figures were printed and typed off.
    transcribed: bool,
    /// What must be known of the figures.
    remarks: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Device {
    path: String,
    identity: String,
    vendor: Option<String>,
    model: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
    interface: Option<String>,
    capacity_bytes: u64,
    logical_block_bytes: u32,
    physical_block_bytes: u32,
    /// Set when the drive is a simulation and no result is that of a real one.
    simulated: Option<Simulated>,
}

#[derive(Serialize, JsonSchema)]
struct Simulated {
    model: String,
    model_version: u32,
    /// Capacity and test minutes are divided by this.
    scale_divisor: u32,
    seed: u64,
}

#[derive(Serialize, JsonSchema)]
struct Host {
    cpu: Option<String>,
    cpus: Option<u32>,
    board: Option<String>,
    memory_bytes: Option<u64>,
    os: Option<String>,
    kernel: Option<String>,
    governor: Option<String>,
    scheduler: Option<String>,
    pcie_link: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct SettingsTold {
    threads: u16,
    queue_depth: u16,
    cell_ns: u64,
    max_rounds: u32,
    precondition_capacities: u32,
    precondition_range_percent: u8,
    test_range_percent: u8,
    /// All of the range when null.
    active_range_amount_bytes: Option<u64>,
    active_range_segments: u32,
    seed: u64,
}

#[derive(Serialize, JsonSchema)]
struct MarkTold {
    /// `SIMULATED`, `SS NOT ACHIEVED`, `NOT COMPLETE`, `INTERRUPTED` or `MODIFIED`.
    title: String,
    details: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Test {
    /// Name of the test: `iops`.
    test: String,
    title: String,
    clause: String,
    /// `REQUIRED`, `OPTIONAL` or that the profile has no such test.
    requirement: String,
    purge: String,
    threads: u16,
    queue_depth: u16,
    /// Finished rounds.
    rounds: u32,
    /// Whether steady state was reached; null while not complete and for a test without one.
    converged: Option<bool>,
    /// Why the test is not complete, if it is not.
    stopped: Option<String>,
    steady_state: Vec<Window>,
    figures: Vec<Figure>,
    tables: Vec<Table>,
    charts: Vec<Chart>,
    notes: Vec<String>,
    modified: Vec<String>,
    /// Every workload in the order of the journal.
    cells: Vec<Cell>,
}

/// The five rounds that decided, for one tracking variable, in the unit of the test.
#[derive(Serialize, JsonSchema)]
struct Window {
    variable: String,
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
}

#[derive(Serialize, JsonSchema)]
struct Figure {
    name: String,
    /// Null where not measured.
    value: Option<f64>,
    /// `IOPS`, `MB/s`, `ms` and so on, as printed.
    unit: String,
}

/// A table of the report; its values are unrounded.
#[derive(Serialize, JsonSchema)]
struct Table {
    page: String,
    heading: String,
    row_heading: String,
    column_heading: String,
    columns: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    name: String,
    /// One per column; null where there is no number.
    values: Vec<Option<f64>>,
    /// Why there is no number, one per column; empty where there is one.
    absent: Vec<String>,
    /// Whether the host may have set the number and not the drive, one per column.
    host_limited: Vec<bool>,
}

/// A chart of points: what the report draws.
#[derive(Serialize, JsonSchema)]
struct Chart {
    page: String,
    x: String,
    y: String,
    series: Vec<Series>,
}

#[derive(Serialize, JsonSchema)]
struct Series {
    name: String,
    /// As pairs of x and y.
    points: Vec<(f64, f64)>,
}

/// One workload as it was answered.
#[derive(Serialize, JsonSchema)]
struct Cell {
    /// Record of the journal.
    record: u64,
    /// `precondition` or `measure`.
    phase: String,
    round: Option<u32>,
    /// Whether results are taken from this round.
    in_window: bool,
    /// In the notation of the PTS: `RND 4KiB W`.
    workload: String,
    /// `random` or `sequential`.
    access: String,
    block_bytes: u32,
    read_percent: u8,
    threads: u16,
    queue_depth: u16,
    start_ns: u64,
    duration_ns: u64,
    iops: f64,
    bytes_per_second: f64,
    read: Way,
    write: Way,
    errors: u64,
    engine: String,
    /// Length of an interruption right before, if there was one.
    gap_before_ns: Option<u64>,
}

/// Reads or writes of a workload. A percentile is null when fewer than ten I/Os lie beyond it; maxima are null on a
/// scaled simulated drive.
#[derive(Serialize, JsonSchema)]
struct Way {
    ios: u64,
    bytes: u64,
    latency_min_ns: Option<u64>,
    latency_mean_ns: Option<f64>,
    latency_p50_ns: Option<u64>,
    latency_p99_ns: Option<u64>,
    latency_p99_9_ns: Option<u64>,
    latency_p99_99_ns: Option<u64>,
    latency_p99_999_ns: Option<u64>,
    latency_max_ns: Option<u64>,
}

/// The JSON schema of the export, as published in docs/report-schema.json.
#[must_use]
pub fn schema() -> String {
    let schema = schemars::schema_for!(Report);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

fn document(source: Source<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = serde_json::to_vec_pretty(&report(source)).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn report(source: Source<'_>) -> Report {
    let document = source.document;
    let run = &document.run;
    let all = answers(source.entries);
    let marks = document.marks(None).into_iter();
    Report {
        schema_version: SCHEMA_VERSION,
        run: run.id.clone(),
        plateau_version: run.plateau_version.clone(),
        judged_by_version: env!("CARGO_PKG_VERSION").into(),
        journal_sha256: document.digest.clone(),
        created: run.created.to_string(),
        command: run.command.clone(),
        origin: run.origin.as_ref().map(|origin| OriginTold {
            format: origin.format.clone(),
            tool: origin.tool.clone(),
            file: origin.file.clone(),
            file_sha256: origin.sha256.clone(),
            date: origin.date.clone(),
            transcribed: origin.transcribed,
            remarks: origin.remarks.clone(),
        }),
        profile: document.profile.revision.into(),
        device: device(&run.target),
        host: host(&run.host),
        settings: settings(&run.settings),
        modified: document.modified.clone(),
        marks: marks.map(|mark| MarkTold { title: mark.title, details: mark.details }).collect(),
        conformance: document.conformance.clone(),
        tests: document.outcomes.iter().map(|outcome| test(source, outcome, &all)).collect(),
        not_begun: document.not_begun.clone(),
    }
}

fn device(target: &record::TargetFacts) -> Device {
    Device {
        path: target.path.clone(),
        identity: target.identity.clone(),
        vendor: target.vendor.clone(),
        model: target.model.clone(),
        serial: target.serial.clone(),
        firmware: target.firmware.clone(),
        interface: target.interface.clone(),
        capacity_bytes: target.capacity_bytes,
        logical_block_bytes: target.logical_block_bytes,
        physical_block_bytes: target.physical_block_bytes,
        simulated: target.simulated.as_ref().map(|sim| Simulated {
            model: sim.model.clone(),
            model_version: sim.model_version,
            scale_divisor: sim.scale_divisor,
            seed: sim.seed,
        }),
    }
}

fn host(host: &record::HostFacts) -> Host {
    Host {
        cpu: host.cpu.clone(),
        cpus: host.cpus,
        board: host.board.clone(),
        memory_bytes: host.memory_bytes,
        os: host.os.clone(),
        kernel: host.kernel.clone(),
        governor: host.governor.clone(),
        scheduler: host.scheduler.clone(),
        pcie_link: host.pcie_link.clone(),
    }
}

fn settings(settings: &Settings) -> SettingsTold {
    SettingsTold {
        threads: settings.threads,
        queue_depth: settings.queue_depth,
        cell_ns: settings.cell_ns,
        max_rounds: settings.max_rounds,
        precondition_capacities: settings.precondition_capacities,
        precondition_range_percent: settings.precondition_range_percent,
        test_range_percent: settings.test_range_percent,
        active_range_amount_bytes: settings.active_range_amount_bytes,
        active_range_segments: settings.active_range_segments,
        seed: settings.seed,
    }
}

fn test(source: Source<'_>, outcome: &Outcome, all: &[Answer<'_>]) -> Test {
    let exhibits = || outcome.pages.iter().flat_map(|p| p.exhibits.iter().map(|e| (p.title.as_str(), e)));
    let figure = |f: &pts::KeyFigure| Figure { name: f.name.clone(), value: f.value, unit: f.unit.into() };
    Test {
        test: outcome.test.clone(),
        title: outcome.title.clone(),
        clause: outcome.clause.into(),
        requirement: outcome.header.requirement.into(),
        purge: outcome.header.purge.clone(),
        threads: outcome.header.threads,
        queue_depth: outcome.header.queue_depth,
        rounds: outcome.rounds,
        converged: outcome.converged,
        stopped: outcome.stop.as_ref().map(ToString::to_string),
        steady_state: outcome.window.iter().map(|(name, s)| window(name, s)).collect(),
        figures: outcome.key_figures.iter().map(figure).collect(),
        tables: exhibits().filter_map(table).collect(),
        charts: exhibits().filter_map(chart).collect(),
        notes: outcome.notes.clone(),
        modified: outcome.modified.clone(),
        cells: all.iter().filter(|a| a.test == outcome.test).map(|a| cell(source, a)).collect(),
    }
}

fn window(name: &str, s: &Steadiness) -> Window {
    Window {
        variable: name.into(),
        first_round: s.first_round,
        last_round: s.last_round,
        mean: s.mean,
        data_excursion: s.range,
        data_excursion_allowed: s.range_allowed,
        slope_per_round: s.slope,
        intercept: s.intercept,
        slope_excursion: s.slope_excursion,
        slope_excursion_allowed: s.slope_allowed,
        correlation: s.correlation,
        steady: s.steady,
    }
}

fn table((page, exhibit): (&str, &Exhibit)) -> Option<Table> {
    let Exhibit::Table(table) = exhibit else { return None };
    let row = |row: &exhibit::Row| Row {
        name: row.name.clone(),
        values: row
            .cells
            .iter()
            .map(|cell| match cell {
                exhibit::Cell::Value(value) | exhibit::Cell::HostLimited(value) => {
                    Some(*value).filter(|v| v.is_finite())
                }
                exhibit::Cell::Absent(_) => None,
            })
            .collect(),
        absent: row
            .cells
            .iter()
            .map(|cell| match cell {
                exhibit::Cell::Value(_) | exhibit::Cell::HostLimited(_) => String::new(),
                exhibit::Cell::Absent(why) => why.clone(),
            })
            .collect(),
        host_limited: row.cells.iter().map(|cell| matches!(cell, exhibit::Cell::HostLimited(_))).collect(),
    };
    Some(Table {
        page: page.into(),
        heading: table.heading.clone(),
        row_heading: table.row_heading.clone(),
        column_heading: table.column_heading.clone(),
        columns: table.columns.clone(),
        rows: table.rows.iter().map(row).collect(),
    })
}

fn chart((page, exhibit): (&str, &Exhibit)) -> Option<Chart> {
    let Exhibit::Lines(lines) = exhibit else { return None };
    let series = |s: &exhibit::Series| Series { name: s.name.clone(), points: s.points.clone() };
    Some(Chart {
        page: page.into(),
        x: lines.x.label.clone(),
        y: lines.y.label.clone(),
        series: lines.series.iter().map(series).collect(),
    })
}

fn cell(source: Source<'_>, answer: &Answer<'_>) -> Cell {
    let segment = answer.segment;
    let workload = &segment.workload;
    let has_maxima = source.document.run.scale_divisor() == 1;
    Cell {
        record: answer.record,
        phase: answer.phase.name().into(),
        round: answer.round,
        in_window: source.document.in_window(answer.test, answer.round),
        workload: workload.to_string(),
        access: csv::access(workload.access).into(),
        block_bytes: workload.block_bytes,
        read_percent: workload.read_percent,
        threads: workload.threads,
        queue_depth: workload.queue_depth,
        start_ns: segment.start_ns,
        duration_ns: segment.end_ns.saturating_sub(segment.start_ns),
        iops: segment.iops(),
        bytes_per_second: segment.megabytes_per_second() * 1e6,
        read: way(&segment.read, has_maxima),
        write: way(&segment.write, has_maxima),
        errors: segment.error_count(),
        engine: segment.engine.clone(),
        gap_before_ns: segment.gap_before.map(|gap| gap.length_ns),
    }
}

fn way(direction: &Direction, has_maxima: bool) -> Way {
    let times = &direction.latency;
    Way {
        ios: direction.ios,
        bytes: direction.bytes,
        latency_min_ns: times.min(),
        latency_mean_ns: times.mean(),
        latency_p50_ns: percentile_ns(times, 500_000),
        latency_p99_ns: percentile_ns(times, 10_000),
        latency_p99_9_ns: percentile_ns(times, 1_000),
        latency_p99_99_ns: percentile_ns(times, 100),
        latency_p99_999_ns: percentile_ns(times, response::FIVE_NINES.beyond_ppm),
        latency_max_ns: times.max().filter(|_| has_maxima),
    }
}
