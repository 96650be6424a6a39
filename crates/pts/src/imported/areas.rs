//! Tests over equal areas of a disk, from the outer edge inwards (TKperf, hard disks).

use stdx::units::{block_size, kib};

use super::absent::ABSENT;
use super::loops::{Over, figure, iops, megabytes};
use super::view::{Kind, Measure, Spot, View};
use crate::KeyFigure;
use crate::exhibits::exhibit::{Cell, Exhibit, Lines, Page, Row, Scale, Series, Table};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::method::profile::mix_name;

/// Random IOPS by area.
pub(super) const IOPS: Kind = Kind {
    name: "areas-iops",
    title: "IOPS by area",
    subject: "IOPS by area",
    purpose: "random IOPS over the areas of a disk, as measured by another tool",
    tracked: None,
    pages: |view| pages(view, Unit::Iops, 1, iops),
    figures: |view| means(view, 4 << 10, Unit::Iops, iops),
};

/// Sequential throughput by area.
pub(super) const THROUGHPUT: Kind = Kind {
    name: "areas-tp",
    title: "Throughput by area",
    subject: "Throughput by area",
    purpose: "sequential throughput over the areas of a disk, as measured by another tool",
    tracked: None,
    pages: |view| pages(view, Unit::MegabytesPerSecond, 1, megabytes),
    figures: |view| means(view, 1 << 20, Unit::MegabytesPerSecond, megabytes),
};

fn means(view: &View<'_>, bytes: u32, unit: Unit, measure: Measure) -> Vec<KeyFigure> {
    let mean = |read| figure(view, bytes, read, ", mean over all areas", unit, 1, measure, Over::Mean);
    [0, 100].map(mean).into()
}

fn pages(view: &View<'_>, unit: Unit, decimals: usize, measure: Measure) -> Vec<Page> {
    let mut pages = Vec::new();
    for read_percent in view.mixes() {
        let series = |block_bytes: u32| Series {
            name: block_size(u64::from(block_bytes)),
            points: view.points(Spot { block_bytes, read_percent }, measure),
        };
        let series = view.sizes().into_iter().map(series).filter(|s| !s.points.is_empty()).collect();
        let title = format!("{unit} v Area - R/W {}", mix_name(read_percent));
        let (x, y) = (("Area", Scale::Integer), (unit.symbol(), Scale::LinearFromZero));
        let lines = Lines::plain(ReadingHint::ByPosition, x, y, series);
        pages.push(Page::of(format!("over-areas-{read_percent}"), &title, Exhibit::Lines(lines)));
    }
    let row = |block_bytes: u32| {
        let value = |read_percent| view.mean(Spot { block_bytes, read_percent }, measure);
        let cells = view.mixes().into_iter().map(|read| Cell::of(value(read), false, || ABSENT.into()));
        Row { name: kib(u64::from(block_bytes)), cells: cells.collect() }
    };
    let table = Table {
        heading: format!("{unit}, mean over all areas"),
        row_heading: "Block Size (KiB)".into(),
        column_heading: "Read / Write Mix %".into(),
        columns: view.mixes().into_iter().map(mix_name).collect(),
        rows: view.sizes().into_iter().map(row).collect(),
        decimals,
        units: unit.into(),
    };
    pages.push(Page::of("table", &format!("{unit} - Tabular Data"), Exhibit::Table(table)));
    pages
}
