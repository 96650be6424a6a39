//! Tidy tables: one row per observation, one file per kind of observation.

mod cells;
mod identity;
mod writer;

use pts::Unit;
use pts::exhibit::{Cell, Exhibit};
use stdx::Packed;

use super::format::{Files, Format, Make, Source};
use crate::facts::answers::{Answer, answers};
use writer::{NAMED, optional, table};

/// The CSV format.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    about: "tidy CSV tables: run.csv, tests.csv, cells.csv (one row per workload), seconds.csv, \
            steady_state.csv, tables.csv, figures.csv, marks.csv, response_times.csv",
    extensions: &[],
    make: Make::Folder(folder),
};

type Content = fn(Source<'_>) -> Result<Vec<u8>, String>;

/// Measured, simulated and imported runs have the same files with the same columns.
const FILES: [(&str, Content); 9] = [
    ("run.csv", identity::run),
    ("tests.csv", identity::tests),
    ("cells.csv", cells::table),
    ("seconds.csv", seconds),
    ("steady_state.csv", steady_state),
    ("tables.csv", tables),
    ("figures.csv", figures),
    ("marks.csv", marks),
    ("response_times.csv", response_times),
];

fn folder(source: Source<'_>) -> Result<Files, String> {
    FILES.iter().map(|(name, content)| Ok(((*name).to_owned(), content(source)?))).collect()
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
        let mut columns =
            [&series.write_ios, &series.latency_mean_ns, &series.latency_max_ns].map(Packed::iter);
        series.read_ios.iter().enumerate().map(move |(i, reads)| {
            let [writes, mean_ns, max_ns] = columns.each_mut().map(|column| optional(column.next()));
            let row = vec![
                (*test).to_owned(),
                record.to_string(),
                (segment.start_ns + series.interval_ns * i as u64).to_string(),
                series.interval_ns.to_string(),
                reads.to_string(),
                writes,
                mean_ns,
                if has_maxima { max_ns } else { String::new() },
            ];
            (row, NAMED.to_owned())
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
            (row, optional(outcome.tracked_unit))
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
                let place = |row: &str, column: &str| {
                    [outcome.test.as_str(), &page.title, &table.heading, row, column].map(str::to_owned)
                };
                for (at, row) in table.rows.iter().enumerate() {
                    for (column, (name, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
                        let fields = place(&row.name, name).into_iter().chain(value(cell)).collect();
                        rows.push((fields, table.unit(at, column).to_owned()));
                    }
                }
            }
        }
    }
    table(source, rows, &["test", "page", "table", "row", "column", "value", "host_limited", "absent"])
}

/// Returns the last three CSV columns of a table cell's row: the value, whether it is host-limited, and the
/// reason if there is no value.
fn value(cell: &Cell) -> [String; 3] {
    match cell {
        Cell::Value(value) => [value.to_string(), "false".into(), String::new()],
        Cell::HostLimited(value) => [value.to_string(), "true".into(), String::new()],
        Cell::Absent(why) => [String::new(), "false".into(), why.clone()],
    }
}

/// Returns the marks on curves. If the tester set a mark, its row also contains the computed value.
fn marks(source: Source<'_>) -> Result<Vec<u8>, String> {
    let rows = source.document.outcomes.iter().flat_map(|outcome| {
        outcome.marks.iter().map(|mark| {
            let row = vec![
                outcome.test.clone(),
                mark.key.clone(),
                mark.name.clone(),
                optional(mark.value()),
                optional(mark.computed),
                mark.set.is_some().to_string(),
                optional(mark.written_bytes),
            ];
            (row, mark.unit.to_string())
        })
    });
    let heading = ["test", "mark", "name", "value", "computed", "set_by_tester", "written_bytes"];
    table(source, rows, &heading)
}

fn figures(source: Source<'_>) -> Result<Vec<u8>, String> {
    let rows = source.document.outcomes.iter().flat_map(|outcome| {
        outcome.key_figures.iter().map(|figure| {
            let row = vec![
                outcome.test.clone(),
                figure.name.clone(),
                optional(figure.value),
                optional(outcome.converged),
                outcome.stop.is_none().to_string(),
                figure.host_limited.to_string(),
            ];
            (row, figure.unit.to_string())
        })
    });
    table(source, rows, &["test", "figure", "value", "steady", "complete", "host_limited"])
}

fn response_times(source: Source<'_>) -> Result<Vec<u8>, String> {
    let mut rows = Vec::new();
    for outcome in &source.document.outcomes {
        for page in &outcome.pages {
            for exhibit in &page.exhibits {
                let Exhibit::ResponseTimes(times) = exhibit else { continue };
                rows.extend(times.bins.iter().map(|bin| {
                    let row = vec![
                        outcome.test.clone(),
                        page.title.clone(),
                        bin.from_ms.to_string(),
                        bin.to_ms.to_string(),
                        bin.ios.to_string(),
                    ];
                    (row, Unit::Milliseconds.to_string())
                }));
            }
        }
    }
    table(source, rows, &["test", "page", "from_ms", "to_ms", "ios"])
}
