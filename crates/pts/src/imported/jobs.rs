//! A load generator's jobs, each with its workload and figures.

use record::{Access, Reading};
use stdx::units::block_size;

use super::absent::ABSENT;
use super::loops::{average, iops, maximum, megabytes};
use super::view::{Kind, View};
use crate::KeyFigure;
use crate::exhibits::exhibit::{Cell, Exhibit, Page, Row, Table, Units};
use crate::exhibits::response::{self, Percentile};
use crate::exhibits::unit::Unit;
use crate::method::profile::mix_name;

/// The test kind for a load generator's jobs.
pub(super) const KIND: Kind = Kind {
    name: "jobs",
    title: "Jobs",
    subject: "Jobs",
    purpose: "jobs of a load generator, one by one",
    tracked: None,
    pages,
    figures: |view| {
        let first = view.test.readings.iter().take(FIGURES);
        first
            .map(|reading| KeyFigure {
                name: name(reading),
                key: None,
                value: reading.iops,
                absent: ABSENT,
                unit: Unit::Iops,
                decimals: 0,
                host_limited: false,
            })
            .collect()
    },
};

/// Number of figures in large type that fit on a summary page.
const FIGURES: usize = 4;
/// Number of rows that fit on a page.
const ROWS: usize = 14;
/// Number of jobs with a separate page for response times.
const HISTOGRAMS: usize = 16;

const COLUMNS: [Percentile; 5] = [
    Percentile { name: "50", beyond_ppm: 500_000 },
    Percentile { name: "99", beyond_ppm: 10_000 },
    Percentile { name: "99.9", beyond_ppm: 1_000 },
    Percentile { name: "99.99", beyond_ppm: 100 },
    response::FIVE_NINES,
];

/// A job's name and workload, such as `randread: RND 4KiB R, TC 1 QD 32`.
fn name(reading: &Reading) -> String {
    let access = if reading.access == Access::Random { "RND" } else { "SEQ" };
    let size = match reading.block_bytes {
        0 => "unknown or mixed sizes".to_owned(),
        bytes => block_size(u64::from(bytes)),
    };
    let mix = match reading.read_percent {
        0 => "W".to_owned(),
        100 => "R".to_owned(),
        read => mix_name(read),
    };
    let round = reading.round.map(|round| format!("round {round}: "));
    let job = reading.name.as_deref().map(|name| format!("{name}: ")).or(round).unwrap_or_default();
    let demand = match (reading.threads, reading.queue_depth) {
        (Some(threads), Some(depth)) => format!(", TC {threads} QD {depth}"),
        _ => String::new(),
    };
    format!("{job}{access} {size} {mix}{demand}")
}

fn pages(view: &View<'_>) -> Vec<Page> {
    sheets(&view.test.readings)
}

/// Tables of rates and response times, and the histograms.
pub(super) fn sheets(readings: &[Reading]) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let sheets = readings.len().div_ceil(ROWS);
    for (index, some) in readings.chunks(ROWS).enumerate() {
        let part = if sheets > 1 { format!(" ({} of {sheets})", index + 1) } else { String::new() };
        let key = |what: &str| format!("{what}-{}-of-{sheets}", index + 1);
        pages.push(Page::of(
            key("rates"),
            &format!("Jobs - Tabular Data{part}"),
            Exhibit::Table(rates(some)),
        ));
        let mut page =
            Page::of(key("times"), &format!("Jobs - Response Times{part}"), Exhibit::Table(times(some)));
        page.remarks
            .push("Not in the file: not reported, or fewer than ten I/Os lie beyond the percentile.".into());
        pages.push(page);
    }
    let histograms = readings.iter().filter_map(|reading| Some((reading, reading.times.as_ref()?)));
    for (reading, record::Times(histogram)) in histograms.take(HISTOGRAMS) {
        let number = |value: Option<f64>| value.map_or_else(|| "n/a".into(), |v| stdx::units::grouped(v, 1));
        let caption =
            format!("{}: {} IOPS, {} MB/s", name(reading), number(reading.iops), number(megabytes(reading)));
        let job = reading.name.as_deref().unwrap_or("job");
        let (key, title) = (format!("times-of-{job}"), format!("Response Time Histogram - {job}"));
        pages.push(response::histogram_page(&key, &title, caption, histogram, false));
    }
    pages
}

fn cell(value: Option<f64>) -> Cell {
    Cell::of(value, false, || ABSENT.into())
}

/// A rate, marked if the file says that it may reflect the host.
fn limited(reading: &Reading, value: Option<f64>) -> Cell {
    Cell::of(value, reading.host_limited, || ABSENT.into())
}

fn rates(readings: &[Reading]) -> Table {
    let row = |reading: &Reading| Row {
        name: name(reading),
        cells: vec![limited(reading, iops(reading)), limited(reading, megabytes(reading))],
    };
    Table {
        heading: "IOPS and Throughput".into(),
        row_heading: "Job".into(),
        column_heading: "Reads and writes combined".into(),
        columns: vec!["IOPS".into(), "MB/s".into()],
        rows: readings.iter().map(row).collect(),
        decimals: 1,
        units: Units::OfColumns([Unit::Iops, Unit::MegabytesPerSecond].map(|unit| unit.to_string()).into()),
    }
}

fn times(readings: &[Reading]) -> Table {
    let row = |reading: &Reading| {
        let mut cells = vec![cell(average(reading))];
        cells.extend(COLUMNS.map(|percentile| cell(at(reading, percentile))));
        cells.push(cell(maximum(reading)));
        Row { name: name(reading), cells }
    };
    let mut columns = vec!["Mean".to_owned()];
    columns.extend(COLUMNS.map(|percentile| format!("{} %", percentile.name)));
    columns.push("Maximum".into());
    Table {
        heading: "Response Time (ms)".into(),
        row_heading: "Job".into(),
        column_heading: "Share of I/Os".into(),
        columns,
        rows: readings.iter().map(row).collect(),
        decimals: 3,
        units: Unit::Milliseconds.into(),
    }
}

/// Returns the percentile from the histogram or, without one, as reported; None if there are too few I/Os.
fn at(reading: &Reading, percentile: Percentile) -> Option<f64> {
    if let Some(record::Times(histogram)) = &reading.times {
        return percentile.of(histogram);
    }
    let share = 100.0 - f64::from(percentile.beyond_ppm) / 1e4;
    let reported = reading.percentiles_ns.iter().find(|(percent, _)| (percent - share).abs() < 1e-9)?;
    let enough = reading.ios.is_none_or(|ios| percentile.is_known_from(ios));
    enough.then_some(reported.1 / 1e6)
}
