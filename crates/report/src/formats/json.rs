//! The whole report as one JSON document with a published schema (docs/reference/report-schema.json). Both the
//! document and its schema are derived from the types in `layout`.

mod efficiency;
mod file_system;
mod layout;
mod on_file;
mod settings;

use pts::exhibit::{self, Exhibit};
use pts::steady::WindowStats;
use pts::{Outcome, response};
use record::{Direction, DirectionReading, Event, MarkKind, Settings};

use super::format::{Format, Make, Source, access};
use crate::document::contents::Document;
use crate::facts::answers::percentile_ns;
use crate::facts::observations::{
    BEYOND_PPM, Observation, ResponseTimes, observations, reported_percentile_ns,
};
use layout::{
    Acceptance, ActiveRange, Cell, Chart, CurveMark, Device, Figure, Host, Latency, Link, Reason, Report,
    ReportMark, ReportOrigin, Row, Series, Simulated, Stated, Table, Test, Way, Window,
};
use settings::{DirthSettings, ReportSettings, WsatSettings};

/// The JSON format.
pub(super) const FORMAT: Format = Format {
    name: "json-file",
    about: "the whole report as one JSON document (schema: docs/reference/report-schema.json)",
    extensions: &["json"],
    make: Make::File(document),
};

/// Schema version. Increment it if a key is removed or its meaning changes, but not if a key is added.
pub const SCHEMA_VERSION: u32 = 2;

/// Returns the JSON schema of the document, as published in docs/reference/report-schema.json.
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
    let all = observations(&source.judged());
    let marks = document.marks(None).into_iter();
    Report {
        schema_version: SCHEMA_VERSION,
        run: run.id.clone(),
        plateau_version: run.plateau_version.clone(),
        judged_by_version: env!("CARGO_PKG_VERSION").into(),
        journal_sha256: document.digest.clone(),
        created: run.created.to_string(),
        command: run.command.clone(),
        origin: run.origin.as_ref().map(|origin| ReportOrigin {
            format: origin.format.clone(),
            tool: origin.tool.clone(),
            file: origin.file.clone(),
            file_sha256: origin.sha256.clone(),
            date: origin.date.clone(),
            transcribed: origin.transcribed,
            exported_run: origin.exported_run.clone(),
            profile: origin.profile.clone(),
            remarks: origin.remarks.clone(),
        }),
        profile: document.profile.revision.into(),
        device: device(document),
        host: host(&run.host),
        stated: stated(&run.stated),
        settings: run.settings.as_ref().map(settings),
        power: document.meter.as_ref().map(efficiency::meter),
        file_system: document.file_system.as_ref().map(file_system::of_run),
        modified: modified(document),
        marks: marks
            .map(|mark| ReportMark {
                mark: mark.kind.key().into(),
                title: mark.title.into(),
                details: mark.details,
            })
            .collect(),
        conformance: document.conformance.clone(),
        tests: document.outcomes.iter().map(|outcome| test(source, outcome, &all)).collect(),
        not_begun: document.not_begun.clone(),
    }
}

/// Returns the run's deviations from its profile, or those listed in an imported file.
fn modified(document: &Document) -> Vec<String> {
    let Some(origin) = &document.run.origin else { return pts::texts(&document.modified) };
    let stated = origin.marks.iter().filter(|mark| mark.mark == MarkKind::Modified);
    stated.flat_map(|mark| mark.details.iter().cloned()).collect()
}

fn device(document: &Document) -> Device {
    fn known<T: Default + PartialEq>(value: T) -> Option<T> {
        (value != T::default()).then_some(value)
    }
    let target = &document.run.target;
    Device {
        path: known(target.path.clone()),
        identity: known(target.identity.clone()),
        vendor: target.vendor.clone(),
        model: target.model.clone(),
        serial: target.serial.clone(),
        firmware: target.firmware.clone(),
        interface: target.interface.clone(),
        nand: target.nand.clone(),
        capacity_bytes: known(target.capacity_bytes),
        logical_block_bytes: known(target.logical_block_bytes),
        physical_block_bytes: known(target.physical_block_bytes),
        simulated_label: known(document.simulated()),
        simulated: target.simulated.as_ref().map(|sim| Simulated {
            label: sim.label(),
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
        microcode: host.microcode.clone(),
        board: host.board.clone(),
        bios_version: host.bios_version.clone(),
        memory_bytes: host.memory_bytes,
        os: host.os.clone(),
        kernel: host.kernel.clone(),
        kernel_command_line: host.kernel_command_line.clone(),
        governor: host.governor.clone(),
        scheduler: host.scheduler.clone(),
        pcie_link: host.pcie_link.clone(),
    }
}

fn stated(stated: &record::Stated) -> Stated {
    let link = |link: &record::Link| Link { name: link.name.clone(), address: link.address.clone() };
    Stated {
        company: stated.company.clone(),
        chassis: stated.chassis.clone(),
        cooler: stated.cooler.clone(),
        power_supply: stated.power_supply.clone(),
        links: stated.links.iter().map(link).collect(),
    }
}

fn settings(settings: &Settings) -> ReportSettings {
    ReportSettings {
        threads: settings.threads,
        queue_depth: settings.queue_depth,
        demand_is_chosen: settings.demand_is_chosen,
        cell_ns: settings.cell_ns,
        max_rounds: settings.max_rounds,
        precondition_capacities: settings.precondition_capacities,
        precondition_range_percent: settings.precondition_range_percent,
        test_range_percent: settings.test_range_percent,
        active_range_amount_bytes: settings.active_range_amount_bytes,
        active_range_segments: settings.active_range_segments,
        composite_fits_sectors: settings.composite_fits_sectors,
        dirth: DirthSettings {
            block_bytes: settings.dirth.block_bytes,
            read_percent: settings.dirth.read_percent,
        },
        wsat: WsatSettings {
            capacities: settings.wsat.capacities,
            hours: settings.wsat.hours,
            until: settings.wsat.until.and_then(word),
            workload: settings.wsat.workload.and_then(word),
        },
        seed: settings.seed,
    }
}

/// Returns a choice as it is written in `run.json`.
fn word(choice: impl serde::Serialize) -> Option<String> {
    serde_json::to_value(choice).ok()?.as_str().map(str::to_owned)
}

fn test(source: Source<'_>, outcome: &Outcome, all: &[Observation<'_>]) -> Test {
    let pages = || outcome.pages.iter().chain(&outcome.beyond);
    let exhibits = || pages().flat_map(|p| p.exhibits.iter().map(|e| (p.title.as_str(), e)));
    let imported = source.entries.iter().find_map(|entry| match &entry.event {
        Event::Imported(test) if test.test == outcome.test => Some(test),
        _ => None,
    });
    let stated = imported.and_then(|test| test.exported.as_ref());
    let figure = |f: &pts::KeyFigure| Figure {
        name: f.name.clone(),
        key: f.key.clone(),
        value: f.value,
        unit: f.unit.symbol().into(),
        host_limited: f.host_limited,
    };
    Test {
        test: outcome.test.clone(),
        title: outcome.title.clone(),
        clause: outcome.clause.unwrap_or("n/a").into(),
        requirement: outcome.header.requirement.into(),
        date: match imported {
            Some(test) => test.date.clone(),
            None => started(source, &outcome.test),
        },
        purge: match imported {
            Some(test) => test.purge.clone(),
            None => Some(outcome.header.purge.clone()),
        },
        preconditioning: match imported {
            Some(test) => test.preconditioning.clone(),
            None => Some(outcome.header.workload_independent.clone().unwrap_or_else(|| "None".into())),
        },
        active_range: match imported {
            Some(test) => test.active_range.clone().map(active_range),
            None => Some(active_range(outcome.header.active_range())),
        },
        threads: outcome.header.threads,
        queue_depth: outcome.header.queue_depth,
        rounds: outcome.rounds,
        converged: outcome.converged,
        stopped: outcome.stop.as_ref().map(ToString::to_string),
        acceptance: outcome.acceptance.as_ref().map(acceptance),
        steady_state: outcome.window.iter().map(|(name, s)| window(outcome, name, s)).collect(),
        figures: outcome.key_figures.iter().map(figure).collect(),
        marks: outcome.marks.iter().map(curve_mark).collect(),
        tables: exhibits().filter_map(table).collect(),
        charts: exhibits().filter_map(chart).collect(),
        efficiency: efficiency::of_test(source.document, &outcome.test),
        file_share: file_system::of_test(source.document, &outcome.test),
        notes: outcome.notes.clone(),
        modified: match stated {
            Some(stated) => stated.modified.clone(),
            None => pts::texts(&outcome.modified),
        },
        io_errors: match imported {
            Some(_) => stated.and_then(|stated| stated.io_errors),
            None => {
                let failures = pts::failures(&outcome.test, source.entries);
                Some(failures.iter().map(|failed| failed.count).sum())
            }
        },
        cells: all.iter().filter(|a| a.test == outcome.test).map(|a| cell(source, a)).collect(),
    }
}

/// Returns the start of a test, as a date.
fn started(source: Source<'_>, test: &str) -> Option<String> {
    let dates = &source.document.test_dates;
    dates.iter().find(|dates| dates.test == test).map(|dates| dates.start.to_string())
}

fn active_range([precondition, test, amount, segments]: [String; 4]) -> ActiveRange {
    ActiveRange { precondition, test, amount, segments }
}

fn acceptance(acceptance: &pts::Acceptance) -> Acceptance {
    let reason = |reason: &pts::Reason| Reason {
        reason: reason.kind().into(),
        text: reason.to_string(),
        offset_bytes: reason.offset_bytes(),
    };
    Acceptance {
        verdict: acceptance.word().into(),
        reasons: acceptance.reasons.iter().map(reason).collect(),
        unchecked: acceptance.unchecked.iter().map(ToString::to_string).collect(),
    }
}

fn curve_mark(mark: &pts::Mark) -> CurveMark {
    CurveMark {
        mark: mark.key.clone(),
        name: mark.name.clone(),
        unit: mark.unit.symbol().to_owned(),
        computed: mark.computed,
        set_by_tester: mark.set,
        written_bytes: mark.written_bytes,
    }
}

fn window(outcome: &Outcome, name: &str, s: &WindowStats) -> Window {
    Window {
        variable: name.into(),
        unit: outcome.tracked_unit.map(|unit| unit.to_string()),
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
        host_limited: s.host_limited,
    }
}

fn table((page, exhibit): (&str, &Exhibit)) -> Option<Table> {
    let Exhibit::Table(table) = exhibit else { return None };
    let row = |(at, row): (usize, &exhibit::Row)| Row {
        units: (0..row.cells.len()).map(|column| table.unit(at, column).to_owned()).collect(),
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
        rows: table.rows.iter().enumerate().map(row).collect(),
    })
}

fn chart((page, exhibit): (&str, &Exhibit)) -> Option<Chart> {
    if let Exhibit::Bars(bars) = exhibit {
        return Some(of_bars(page, bars));
    }
    let Exhibit::Lines(lines) = exhibit else { return None };
    let series = |s: &exhibit::Series| Series { name: s.name.clone(), points: s.points.clone() };
    Some(Chart {
        page: page.into(),
        reading: charts::sentence(lines.reading).into(),
        shows: word(lines.reading).unwrap_or_default(),
        x: lines.x.label.clone(),
        x_scale: word(lines.x.scale).unwrap_or_default(),
        y: lines.y.label.clone(),
        y_scale: word(lines.y.scale).unwrap_or_default(),
        series: lines.series.iter().map(series).collect(),
    })
}

/// Converts a bar chart: each bar becomes a series with one point, numbered from 1.
fn of_bars(page: &str, bars: &exhibit::Bars) -> Chart {
    let series = |(number, (name, value)): (u32, &(String, Option<f64>))| Series {
        name: name.clone(),
        points: value.iter().map(|value| (f64::from(number), *value)).collect(),
    };
    Chart {
        page: page.into(),
        reading: charts::sentence(bars.reading).into(),
        shows: word(bars.reading).unwrap_or_default(),
        x: bars.name_label.clone(),
        x_scale: word(exhibit::Scale::Integer).unwrap_or_default(),
        y: bars.value_label.clone(),
        y_scale: word(exhibit::Scale::LinearFromZero).unwrap_or_default(),
        series: (1..).zip(&bars.bars).map(series).collect(),
    }
}

fn cell(source: Source<'_>, observation: &Observation<'_>) -> Cell {
    let segment = observation.segment;
    let has_maxima = source.document.run.scale_divisor() == 1;
    let driven = &observation.driven;
    Cell {
        record: observation.record,
        job: observation.job.map(str::to_owned),
        phase: observation.phase.map(str::to_owned),
        round: observation.round,
        in_window: observation.in_window,
        in_results: observation.in_results,
        workload: observation.workload.clone(),
        access: access(observation.access).into(),
        block_bytes: observation.block_bytes,
        read_percent: observation.read_percent,
        threads: observation.threads,
        queue_depth: observation.queue_depth,
        start_ns: driven.start_ns,
        duration_ns: driven.duration_ns,
        iops: observation.iops,
        bytes_per_second: observation.bytes_per_second,
        latency: latency(&observation.times),
        ios: observation.ios,
        read: segment.map(|segment| way(&segment.read, has_maxima)).or(observation.read.map(reported)),
        write: segment.map(|segment| way(&segment.write, has_maxima)).or(observation.write.map(reported)),
        errors: driven.errors,
        engine: driven.engine.clone(),
        gap_before_ns: driven.gap_before_ns,
        host_share: driven.host_share,
        user_ns: driven.user_ns,
        system_ns: driven.system_ns,
        voluntary_switches: driven.voluntary_switches,
        involuntary_switches: driven.involuntary_switches,
        host_limited: observation.host_limited,
        power: observation.power.as_ref().map(efficiency::of_cell),
        on_file: observation.on_file.map(file_system::of_cell),
    }
}

fn latency(times: &ResponseTimes) -> Latency {
    let [p50_ns, p99_ns, p99_9_ns, p99_99_ns, p99_999_ns] = times.percentiles;
    Latency { mean_ns: times.mean, p50_ns, p99_ns, p99_9_ns, p99_99_ns, p99_999_ns, max_ns: times.max }
}

/// Returns one direction as an imported file reports it.
fn reported(direction: &DirectionReading) -> Way {
    let [p50, p99, p99_9, p99_99, p99_999] = BEYOND_PPM.map(|beyond_ppm| {
        let found = reported_percentile_ns(&direction.percentiles_ns, Some(direction.ios), beyond_ppm);
        found.map(|ns| ns as u64)
    });
    Way {
        ios: direction.ios,
        bytes: direction.bytes,
        latency_min_ns: direction.latency_min_ns.map(|ns| ns as u64),
        latency_mean_ns: direction.latency_mean_ns,
        latency_p50_ns: p50,
        latency_p99_ns: p99,
        latency_p99_9_ns: p99_9,
        latency_p99_99_ns: p99_99,
        latency_p99_999_ns: p99_999,
        latency_max_ns: direction.latency_max_ns.map(|ns| ns as u64),
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
