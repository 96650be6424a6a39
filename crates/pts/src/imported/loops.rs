//! Loops over block sizes and mixes: IOPS, throughput and latency. The pages match those of the PTS tests, so that
//! they can be compared side by side.

use record::{Access, Reading};
use stdx::units::{KIB, block_size, kib};

use super::absent::ABSENT;
use super::view::{Kind, Measure, Spot, TrackedSeries, View, judged};
use crate::KeyFigure;
use crate::exhibits::exhibit::{
    Bars, Cell, Columns3d, Exhibit, Lines, Page, Row, Scale, Series, Table, Units,
};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::exhibits::window_pages;
use crate::method::profile::mix_name;

const FOUR_KIB: u32 = 4 * KIB as u32;
const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// Random IOPS.
pub(super) const IOPS: Kind = Kind {
    name: "iops",
    title: "IOPS",
    subject: "IOPS",
    purpose: "random IOPS by R/W mix and block size, as measured by another tool",
    tracked: Some(|view| tracked(view, FOUR_KIB, Unit::Iops, iops)),
    pages: iops_pages,
    figures: |view| {
        [(4, 0), (4, 100), (8, 0), (8, 100)]
            .map(|(size, read)| figure(view, size * KIB as u32, read, "", Unit::Iops, 0, iops, Over::Mean))
            .into()
    },
};

/// Sequential throughput at several block sizes.
pub(super) const THROUGHPUT: Kind = Kind {
    name: "tp",
    title: "Throughput",
    subject: "Throughput",
    purpose: "sequential throughput, as measured by another tool",
    tracked: Some(|view| tracked(view, 1024 * KIB as u32, Unit::MegabytesPerSecond, megabytes)),
    // The titles of the results begin with the name of this test.
    pages: |view| {
        let named = |page: Page| Page { names_test: page.key.is_some(), ..page };
        throughput_pages(view).into_iter().map(named).collect()
    },
    figures: throughput_figures,
};

/// Sequential throughput with 1024 KiB blocks only.
pub(super) const THROUGHPUT_1024: Kind =
    Kind { name: "tp-1024", title: "Throughput Test 1024KiB", pages: throughput_pages, ..THROUGHPUT };

/// Sequential throughput with 128 KiB blocks only.
pub(super) const THROUGHPUT_128: Kind = Kind {
    name: "tp-128",
    title: "Throughput Test 128KiB",
    pages: throughput_pages,
    tracked: Some(|view| tracked(view, 128 * KIB as u32, Unit::MegabytesPerSecond, megabytes)),
    ..THROUGHPUT
};

/// Response times with one I/O outstanding.
pub(super) const LATENCY: Kind = Kind {
    name: "lat",
    title: "Latency",
    subject: "Latency",
    purpose: "response times at one outstanding I/O, as measured by another tool",
    tracked: Some(|view| tracked(view, FOUR_KIB, Unit::Milliseconds, average)),
    pages: latency_pages,
    figures: |view| {
        let ms = |read, kind, of: Measure, over| {
            figure(view, FOUR_KIB, read, kind, Unit::Milliseconds, 3, of, over)
        };
        vec![
            ms(100, " average", average, Over::Mean),
            ms(0, " average", average, Over::Mean),
            ms(100, " maximum", maximum, Over::Largest),
            ms(0, " maximum", maximum, Over::Largest),
        ]
    },
};

pub(super) fn iops(reading: &Reading) -> Option<f64> {
    reading.iops
}

pub(super) fn megabytes(reading: &Reading) -> Option<f64> {
    reading.bytes_per_second.map(|rate| rate / 1e6)
}

fn mebibytes(reading: &Reading) -> Option<f64> {
    reading.bytes_per_second.map(|rate| rate / MEBIBYTE)
}

pub(super) fn average(reading: &Reading) -> Option<f64> {
    reading.latency_mean_ns.map(|ns| ns / 1e6)
}

pub(super) fn maximum(reading: &Reading) -> Option<f64> {
    reading.latency_max_ns.map(|ns| ns / 1e6)
}

/// Reduces the values from several rounds to one.
#[derive(Clone, Copy)]
pub(super) enum Over {
    Mean,
    Largest,
}

impl Over {
    fn of(self, view: &View<'_>, spot: Spot, measure: Measure) -> Option<f64> {
        match self {
            Self::Mean => view.mean(spot, measure),
            Self::Largest => view.largest(spot, measure),
        }
    }
}

fn order_name(view: &View<'_>) -> &'static str {
    match view.test.readings.first().map(|r| r.access) {
        Some(Access::Sequential) => "SEQ",
        _ => "RND",
    }
}

fn tracked(view: &View<'_>, block_bytes: u32, unit: Unit, measure: Measure) -> TrackedSeries {
    let spot = Spot { block_bytes: view.test.tracked_block_bytes.unwrap_or(block_bytes), read_percent: 0 };
    let size = block_size(u64::from(spot.block_bytes));
    TrackedSeries { name: format!("{} {size} W", order_name(view)), unit, points: view.points(spot, measure) }
}

#[expect(clippy::too_many_arguments, reason = "each argument sets one property of the figure")]
pub(super) fn figure(
    view: &View<'_>,
    block_bytes: u32,
    read_percent: u8,
    kind: &str,
    unit: Unit,
    decimals: usize,
    measure: Measure,
    over: Over,
) -> KeyFigure {
    let mix = match read_percent {
        0 => "W".to_owned(),
        100 => "R".to_owned(),
        read => mix_name(read),
    };
    KeyFigure {
        name: format!("{} {} {mix}{kind}", order_name(view), block_size(u64::from(block_bytes))),
        key: None,
        value: over.of(view, Spot { block_bytes, read_percent }, measure),
        absent: ABSENT,
        unit,
        decimals,
        host_limited: false,
    }
}

fn throughput_figures(view: &View<'_>) -> Vec<KeyFigure> {
    let large = |bytes: &u32| *bytes >= 128 * KIB as u32 || view.sizes().len() == 1;
    let sizes = view.sizes().into_iter().rev().filter(large);
    sizes
        .flat_map(|size| {
            [0, 100]
                .map(|read| figure(view, size, read, "", Unit::MegabytesPerSecond, 1, megabytes, Over::Mean))
        })
        .collect()
}

/// Shows the tracking variable's window: the history, and the determination if there are five values.
fn window(view: &View<'_>, tracked: &TrackedSeries, with_history: bool) -> Vec<Page> {
    let unit = tracked.unit;
    if tracked.points.is_empty() {
        return Vec::new();
    }
    let judged = judged(view.test, tracked);
    let mut pages: Vec<Page> = Vec::new();
    if with_history {
        pages.push(window_pages::history(&tracked.name, unit, tracked.points.clone(), judged.as_ref()));
    }
    let short = tracked.name.trim_end_matches(" W").replace(' ', "/");
    pages.push(window_pages::determination(
        &short,
        unit,
        tracked.points.clone(),
        judged.as_ref(),
        view.profile,
    ));
    if judged.is_none() {
        let remark = "The measurement window with the values of its five rounds is not in the file.";
        pages.iter_mut().for_each(|page| page.remarks = vec![remark.into()]);
    }
    pages
}

/// Each block size's values over the rounds; None if the source does not report rounds.
fn over_rounds(
    view: &View<'_>,
    title: &str,
    label: &str,
    read_percent: u8,
    measure: Measure,
) -> Option<Page> {
    let series: Vec<Series> = view
        .sizes()
        .into_iter()
        .map(|block_bytes| Series {
            name: block_size(u64::from(block_bytes)),
            points: view.points(Spot { block_bytes, read_percent }, measure),
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    (!series.is_empty()).then(|| window_pages::convergence(title, label, series))
}

fn iops_pages(view: &View<'_>) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let title = "Steady State Convergence Plot - All Block Sizes";
    pages.extend(over_rounds(view, title, "IOPS (R/W 0/100)", 0, iops));
    pages.extend(window(view, &tracked(view, FOUR_KIB, Unit::Iops, iops), true));
    let cells = Exhibit::Table(table(view, "IOPS", iops, (Unit::Iops.into(), 1, Over::Mean)));
    pages.push(Page {
        remarks: vec![view.mean_remark()],
        ..Page::named("table", "IOPS", "- ALL RW Mix & BS - Tabular Data", cells)
    });
    let (mixes, sizes) = (view.mixes(), view.sizes());
    if mixes.len() > 1 && sizes.len() > 1 {
        let plots = [
            by_size(view, "IOPS - ALL RW Mix & BS - 2D Plot", "IOPS", iops),
            columns(view, "columns", "IOPS - ALL RW Mix & BS - 3D Columns", "IOPS", iops, Over::Mean),
        ];
        pages.extend(plots.map(|page| Page { names_test: true, ..page }));
    }
    pages
}

fn throughput_pages(view: &View<'_>) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    pages.extend(over_rounds(view, "Throughput - SS Convergence - Write", "MB/s", 0, megabytes));
    pages.extend(over_rounds(view, "Throughput - SS Convergence - Read", "MB/s", 100, megabytes));
    let largest = view.sizes().last().copied().unwrap_or(0);
    pages.extend(window(view, &tracked(view, largest, Unit::MegabytesPerSecond, megabytes), false));
    let mut tables = vec![Exhibit::Table(table(
        view,
        "Throughput (MB/s)",
        megabytes,
        (Unit::MegabytesPerSecond.into(), 1, Over::Mean),
    ))];
    let mut remarks = vec![view.mean_remark()];
    if view.origin.reports_mebibytes {
        let heading = "Throughput (MiB/s; TKperf prints these as MB/s)";
        tables.push(Exhibit::Table(table(
            view,
            heading,
            mebibytes,
            (Units::All("MiB/s".into()), 3, Over::Mean),
        )));
        remarks.push("1 MiB/s = 1.048576 MB/s.".into());
    }
    pages.push(Page {
        key: Some("table".into()),
        title: "Throughput - ALL RW Mix & BS - Tabular Data".into(),
        names_test: false,
        exhibits: tables,
        remarks,
    });
    pages.push(if view.sizes().len() > 1 {
        by_size(view, "Throughput - ALL RW Mix & BS - 2D Plot", "MB/s", megabytes)
    } else {
        by_mix(view, "Throughput - ALL RW Mix & BS - 2D Plot", "MB/s", megabytes)
    });
    pages
}

fn latency_pages(view: &View<'_>) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let title = |what: &str, mix: &str| format!("Steady State Convergence - {what} Latency ({mix})");
    let mixes = [(0, "100 % writes"), (100, "100 % reads"), (65, "65/35 reads and writes")];
    pages.extend(mixes.into_iter().filter_map(|(read_percent, mix)| {
        over_rounds(view, &title("Average", mix), "Average latency (ms)", read_percent, average)
    }));
    pages.extend(over_rounds(view, &title("Maximum", "100 % writes"), "Maximum latency (ms)", 0, maximum));
    pages.extend(window(view, &tracked(view, FOUR_KIB, Unit::Milliseconds, average), false));
    pages.push(Page {
        key: Some("table".into()),
        title: "Average and Maximum Response Time - Tabular Data".into(),
        names_test: false,
        exhibits: vec![
            Exhibit::Table(table(
                view,
                "Average Response Time (ms)",
                average,
                (Unit::Milliseconds.into(), 3, Over::Mean),
            )),
            Exhibit::Table(table(
                view,
                "Maximum Response Time (ms)",
                maximum,
                (Unit::Milliseconds.into(), 3, Over::Largest),
            )),
        ],
        remarks: vec![format!("{} Maxima are the largest over all of them.", view.mean_remark())],
    });
    pages.push(columns(
        view,
        "average-columns",
        "AVE Latency v BS and R/W Mix - 3D Plot",
        "Average (ms)",
        average,
        Over::Mean,
    ));
    pages.push(columns(
        view,
        "maximum-columns",
        "MAX Latency v BS and R/W Mix - 3D Plot",
        "Maximum (ms)",
        maximum,
        Over::Largest,
    ));
    pages
}

fn table(
    view: &View<'_>,
    heading: &str,
    measure: Measure,
    (units, decimals, over): (Units, usize, Over),
) -> Table {
    let mixes = view.mixes();
    let row = |block_bytes: u32| Row {
        name: kib(u64::from(block_bytes)),
        cells: mixes
            .iter()
            .map(|&read_percent| {
                let value = over.of(view, Spot { block_bytes, read_percent }, measure);
                Cell::of(value, false, || ABSENT.into())
            })
            .collect(),
    };
    Table {
        heading: heading.into(),
        row_heading: "Block Size (KiB)".into(),
        column_heading: "Read / Write Mix %".into(),
        columns: mixes.iter().map(|read| mix_name(*read)).collect(),
        rows: view.sizes().into_iter().map(row).collect(),
        decimals,
        units,
    }
}

fn by_size(view: &View<'_>, title: &str, label: &str, measure: Measure) -> Page {
    let series = view.mixes().into_iter().map(|read_percent| Series {
        name: mix_name(read_percent),
        points: view
            .sizes()
            .into_iter()
            .filter_map(|block_bytes| {
                let value = view.mean(Spot { block_bytes, read_percent }, measure)?;
                Some((f64::from(block_bytes) / 1024.0, value))
            })
            .collect(),
    });
    let (x, y) = (("Block Size (KiB)", Scale::Log2), (label, Scale::Log10));
    let lines = Lines::plain(ReadingHint::ByBlockSize, x, y, series.collect());
    Page::of("plot", title, Exhibit::Lines(lines))
}

/// Bars, as on the corresponding PTS page.
fn by_mix(view: &View<'_>, title: &str, label: &str, measure: Measure) -> Page {
    let block_bytes = view.sizes().first().copied().unwrap_or(0);
    let bar =
        |read_percent: u8| (mix_name(read_percent), view.mean(Spot { block_bytes, read_percent }, measure));
    let bars = Bars {
        reading: ReadingHint::Mixes,
        name_label: "R/W Mix".into(),
        value_label: label.into(),
        bars: view.mixes().into_iter().map(bar).collect(),
    };
    Page::of("plot", title, Exhibit::Bars(bars))
}

fn columns(view: &View<'_>, key: &str, title: &str, height: &str, measure: Measure, over: Over) -> Page {
    let (mixes, sizes) = (view.mixes(), view.sizes());
    let value = |read_percent, block_bytes| over.of(view, Spot { block_bytes, read_percent }, measure);
    let columns = Columns3d {
        reading: ReadingHint::Columns,
        x_label: "Block Size (KiB)".into(),
        x: sizes.iter().map(|bytes| kib(u64::from(*bytes))).collect(),
        depth_label: "R/W Mix".into(),
        depth: mixes.iter().map(|read| mix_name(*read)).collect(),
        height_label: height.into(),
        heights: mixes.iter().map(|read| sizes.iter().map(|size| value(*read, *size)).collect()).collect(),
    };
    Page::of(key, title, Exhibit::Columns3d(columns))
}
