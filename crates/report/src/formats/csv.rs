//! Tidy tables: one row per observation, one file per kind of observation.

use pts::exhibit::{Cell, Exhibit};
use pts::response;
use record::{Effort, Event, Power};

use super::format::{Files, Format, Make, Source, access};
use crate::facts::answers::{Answer, answers, percentile_ns};
use crate::facts::efficiency::{Efficiency, Meter, Quantity};

/// The CSV format.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    about: "tidy CSV tables: cells.csv (one row per cell and round), seconds.csv, steady_state.csv, \
            tables.csv, figures.csv, marks.csv, response_times.csv; readings.csv for imported runs",
    extensions: &[],
    make: Make::Folder(folder),
};

fn folder(source: Source<'_>) -> Result<Files, String> {
    let file = |name: &str, content: Result<Vec<u8>, String>| Ok((name.to_owned(), content?));
    if source.document.run.origin.is_some() {
        return [
            file("readings.csv", readings(source)),
            file("steady_state.csv", steady_state(source)),
            file("tables.csv", tables(source)),
            file("figures.csv", figures(source)),
            file("marks.csv", marks(source)),
            file("response_times.csv", response_times(source)),
        ]
        .into_iter()
        .collect();
    }
    [
        file("cells.csv", cells(source)),
        file("seconds.csv", seconds(source)),
        file("steady_state.csv", steady_state(source)),
        file("tables.csv", tables(source)),
        file("figures.csv", figures(source)),
        file("marks.csv", marks(source)),
        file("response_times.csv", response_times(source)),
    ]
    .into_iter()
    .collect()
}

/// Appends a column naming the simulated drive, since a table may be separated from its report, and a row from its
/// table.
fn table(
    source: Source<'_>,
    rows: impl IntoIterator<Item = Vec<String>>,
    heading: &[&str],
) -> Result<Vec<u8>, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| error.to_string();
    writer.write_record(heading.iter().copied().chain(["simulated"])).map_err(failed)?;
    let simulated = source.document.simulated();
    for row in rows {
        writer
            .write_record(row.iter().chain([&simulated]).map(|field| without_formula(field)))
            .map_err(failed)?;
    }
    writer.into_inner().map_err(|error| error.to_string())
}

/// Guards against formula injection: spreadsheets interpret text with these prefixes as formulas, and a leading quote
/// prevents that. Numbers stay unchanged.
fn without_formula(field: &str) -> String {
    let suspicious = field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<f64>().is_err();
    if suspicious && field != "-" { format!("'{field}") } else { field.to_owned() }
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

const CELLS: &[&str] = &[
    "run",
    "test",
    "phase",
    "round",
    "in_window",
    "record",
    "access",
    "block_bytes",
    "read_percent",
    "threads",
    "queue_depth",
    "start_ns",
    "duration_ns",
    "read_ios",
    "write_ios",
    "read_bytes",
    "write_bytes",
    "iops",
    "bytes_per_second",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_p99_99_ns",
    "latency_p99_999_ns",
    "latency_max_ns",
    "errors",
    "gap_before_ns",
    "engine",
    "host_share",
    "user_ns",
    "system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "host_limited",
    "power_mean_watts",
    "power_min_watts",
    "power_max_watts",
    "power_samples",
    "attributed_watts",
    "attributed_watts_uncertainty",
    "iops_per_watt",
    "iops_per_watt_uncertainty",
    "bytes_per_second_per_watt",
    "bytes_per_second_per_watt_uncertainty",
];

fn cells(source: Source<'_>) -> Result<Vec<u8>, String> {
    let run = &source.document.run.id;
    let meter = Meter::of(&source.document.run, source.entries);
    let row = |answer: &Answer<'_>| [cell(run, answer, source), power(answer, &meter)].concat();
    table(source, answers(source.entries).iter().map(row), CELLS)
}

fn cell(run: &str, answer: &Answer<'_>, source: Source<'_>) -> Vec<String> {
    let Answer { record, test, phase, round, segment, .. } = answer;
    let workload = &segment.workload;
    let times = response::merged([*segment]);
    let percentile = |beyond_ppm: u32| optional(percentile_ns(&times, beyond_ppm));
    let effort = |of: fn(&Effort) -> u64| optional(segment.host.as_ref().map(|host| of(&host.effort)));
    vec![
        run.to_owned(),
        (*test).to_owned(),
        phase.name().into(),
        optional(*round),
        source.document.in_window(answer).to_string(),
        record.to_string(),
        access(workload.access).into(),
        workload.block_bytes.to_string(),
        workload.read_percent.to_string(),
        workload.threads.to_string(),
        workload.queue_depth.to_string(),
        segment.start_ns.to_string(),
        segment.end_ns.saturating_sub(segment.start_ns).to_string(),
        segment.read.ios.to_string(),
        segment.write.ios.to_string(),
        segment.read.bytes.to_string(),
        segment.write.bytes.to_string(),
        segment.iops().to_string(),
        (segment.megabytes_per_second() * 1e6).to_string(),
        optional(times.mean()),
        percentile(500_000),
        percentile(10_000),
        percentile(1_000),
        percentile(100),
        percentile(10),
        optional(times.max().filter(|_| source.document.run.scale_divisor() == 1)),
        segment.error_count().to_string(),
        optional(segment.gap_before.map(|gap| gap.length_ns)),
        segment.io_path.to_string(),
        optional(segment.host_share()),
        effort(|effort| effort.user_ns),
        effort(|effort| effort.system_ns),
        effort(|effort| effort.voluntary_switches),
        effort(|effort| effort.involuntary_switches),
        segment.is_host_limited().to_string(),
    ]
}

/// Power of a cell, and what it did per watt; empty if not measured.
fn power(answer: &Answer<'_>, meter: &Meter<'_>) -> Vec<String> {
    let watts =
        |of: fn(&Power) -> u64| optional(answer.segment.power.as_ref().map(|power| of(power) as f64 / 1e6));
    let found = meter.efficiency(answer.segment);
    let quantity = |of: fn(&Efficiency) -> Quantity, factor: f64| {
        let quantity = found.as_ref().map(of);
        let uncertainty = quantity.and_then(|quantity| quantity.uncertainty());
        [quantity.map(|quantity| quantity.value), uncertainty]
            .map(|value| optional(value.map(|v| v * factor)))
    };
    let mut row = vec![
        watts(|power| power.mean_microwatts),
        watts(|power| power.min_microwatts),
        watts(|power| power.max_microwatts),
        optional(answer.segment.power.as_ref().map(|power| power.samples)),
    ];
    row.extend(quantity(|found| found.watts, 1.0));
    row.extend(quantity(|found| found.iops_per_watt, 1.0));
    row.extend(quantity(|found| found.megabytes_per_second_per_watt, 1e6));
    row
}

const READINGS: &[&str] = &[
    "run",
    "test",
    "job",
    "round",
    "access",
    "block_bytes",
    "read_percent",
    "threads",
    "queue_depth",
    "iops",
    "bytes_per_second",
    "latency_mean_ns",
    "latency_max_ns",
];

/// Values of an imported run by workload; rows without a round are means over the window.
fn readings(source: Source<'_>) -> Result<Vec<u8>, String> {
    let run = &source.document.run.id;
    let tests = source.entries.iter().filter_map(|entry| match &entry.event {
        Event::Imported(test) => Some(test),
        _ => None,
    });
    let rows = tests.flat_map(|test| {
        test.readings.iter().map(|reading| {
            vec![
                run.clone(),
                test.test.clone(),
                optional(reading.name.clone()),
                optional(reading.round),
                access(reading.access).to_owned(),
                reading.block_bytes.to_string(),
                reading.read_percent.to_string(),
                optional(reading.threads.or(test.threads)),
                optional(reading.queue_depth.or(test.queue_depth)),
                optional(reading.iops),
                optional(reading.bytes_per_second),
                optional(reading.latency_mean_ns),
                optional(reading.latency_max_ns),
            ]
        })
    });
    table(source, rows, READINGS)
}

fn seconds(source: Source<'_>) -> Result<Vec<u8>, String> {
    let heading = [
        "test",
        "record",
        "interval_start_ns",
        "interval_ns",
        "read_ios",
        "write_ios",
        "latency_mean_ns",
        "latency_max_ns",
    ];
    let all = answers(source.entries);
    let has_maxima = source.document.run.scale_divisor() == 1;
    let rows = all.iter().flat_map(|Answer { test, record, segment, .. }| {
        let series = &segment.series;
        series.read_ios.iter().enumerate().map(move |(i, reads)| {
            let at = |column: &[u64]| optional(column.get(i));
            vec![
                (*test).to_owned(),
                record.to_string(),
                (segment.start_ns + series.interval_ns * i as u64).to_string(),
                series.interval_ns.to_string(),
                reads.to_string(),
                at(&series.write_ios),
                at(&series.latency_mean_ns),
                if has_maxima { at(&series.latency_max_ns) } else { String::new() },
            ]
        })
    });
    table(source, rows, &heading)
}

fn steady_state(source: Source<'_>) -> Result<Vec<u8>, String> {
    let heading = [
        "test",
        "variable",
        "first_round",
        "last_round",
        "mean",
        "data_excursion",
        "data_excursion_allowed",
        "slope_per_round",
        "intercept",
        "slope_excursion",
        "slope_excursion_allowed",
        "correlation",
        "steady",
        "host_limited",
    ];
    let rows = source.document.outcomes.iter().flat_map(|outcome| {
        outcome.window.iter().map(|(name, s)| {
            let numbers =
                [s.mean, s.range, s.range_allowed, s.slope, s.intercept, s.slope_excursion, s.slope_allowed];
            let mut row =
                vec![outcome.test.clone(), name.clone(), s.first_round.to_string(), s.last_round.to_string()];
            row.extend(numbers.iter().map(f64::to_string));
            row.extend([optional(s.correlation), s.steady.to_string(), s.host_limited.to_string()]);
            row
        })
    });
    table(source, rows, &heading)
}

fn tables(source: Source<'_>) -> Result<Vec<u8>, String> {
    let mut rows = Vec::new();
    for outcome in &source.document.outcomes {
        for page in &outcome.pages {
            for exhibit in &page.exhibits {
                let Exhibit::Table(table) = exhibit else { continue };
                for row in &table.rows {
                    for (column, cell) in table.columns.iter().zip(&row.cells) {
                        let (value, absent) = match cell {
                            Cell::Value(value) | Cell::HostLimited(value) => {
                                (value.to_string(), String::new())
                            }
                            Cell::Absent(why) => (String::new(), why.clone()),
                        };
                        let limited = matches!(cell, Cell::HostLimited(_)).to_string();
                        let place = [outcome.test.as_str(), &page.title, &table.heading, &row.name, column];
                        rows.push(
                            place.iter().map(|s| (*s).to_owned()).chain([value, limited, absent]).collect(),
                        );
                    }
                }
            }
        }
    }
    table(source, rows, &["test", "page", "table", "row", "column", "value", "host_limited", "absent"])
}

/// Marks on curves; those that the tester set have the computed value beside them.
fn marks(source: Source<'_>) -> Result<Vec<u8>, String> {
    let rows = source.document.outcomes.iter().flat_map(|outcome| {
        outcome.marks.iter().map(|mark| {
            vec![
                outcome.test.clone(),
                mark.key.to_owned(),
                mark.name.clone(),
                mark.unit.symbol().to_owned(),
                optional(mark.value()),
                optional(mark.computed),
                mark.set.is_some().to_string(),
                optional(mark.written_bytes),
            ]
        })
    });
    let heading = ["test", "mark", "name", "unit", "value", "computed", "set_by_tester", "written_bytes"];
    table(source, rows, &heading)
}

fn figures(source: Source<'_>) -> Result<Vec<u8>, String> {
    let rows = source.document.outcomes.iter().flat_map(|outcome| {
        outcome.key_figures.iter().map(|figure| {
            vec![
                outcome.test.clone(),
                figure.name.clone(),
                figure.unit.to_string(),
                optional(figure.value),
                figure.host_limited.to_string(),
            ]
        })
    });
    table(source, rows, &["test", "figure", "unit", "value", "host_limited"])
}

fn response_times(source: Source<'_>) -> Result<Vec<u8>, String> {
    let mut rows = Vec::new();
    for outcome in &source.document.outcomes {
        for page in &outcome.pages {
            for exhibit in &page.exhibits {
                let Exhibit::ResponseTimes(times) = exhibit else { continue };
                rows.extend(times.bins.iter().map(|bin| {
                    vec![
                        outcome.test.clone(),
                        page.title.clone(),
                        bin.from_ms.to_string(),
                        bin.to_ms.to_string(),
                        bin.ios.to_string(),
                    ]
                }));
            }
        }
    }
    table(source, rows, &["test", "page", "from_ms", "to_ms", "ios"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_a_formula_and_numbers_are_never_text() {
        assert_eq!(without_formula("=cmd()"), "'=cmd()");
        assert_eq!(without_formula("@x"), "'@x");
        assert_eq!(without_formula("-54.407"), "-54.407");
        assert_eq!(without_formula("-"), "-");
        assert_eq!(without_formula("65/35"), "65/35");
    }
}
