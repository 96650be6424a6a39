//! Write saturation: IOPS over time, or only the published figures.

use super::absent::ABSENT;
use super::loops::{average, iops};
use super::view::{Kind, Spot, View};
use crate::KeyFigure;
use crate::exhibits::exhibit::{Cell, Exhibit, Lines, Page, Row, Scale, Series, Table, Units};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::tests::{LAST_MINUTES, not_judged, saturation_figures};

/// The test kind for write saturation.
pub(super) const KIND: Kind = Kind {
    name: "wsat",
    title: "WSAT",
    subject: "WSAT",
    purpose: "random writes from fresh out of the box, as measured by another tool",
    tracked: None,
    pages,
    figures,
};

const STIMULUS: Spot = Spot { block_bytes: 4096, read_percent: 0 };
const FRESH: &str = "RND 4KiB W, FOB";
const STEADY: &str = "RND 4KiB W, steady state";

/// Length of a round in minutes, if it is in the file.
fn minutes(view: &View<'_>) -> Option<f64> {
    view.test.round_ns.map(|ns| ns as f64 / 60e9).filter(|minutes| *minutes > 0.0)
}

fn stated(view: &View<'_>, name: &str) -> Option<f64> {
    view.test.figures.iter().find(|figure| figure.name == name).and_then(|figure| figure.value)
}

/// Computes FOB and the mean of the last minutes from the curve. Both are defined in minutes; a curve shorter than
/// the averaging period has neither.
fn worked_out(view: &View<'_>) -> (Option<f64>, Option<f64>, usize) {
    let curve: Vec<f64> = view.points(STIMULUS, iops).into_iter().map(|(_, value)| value).collect();
    let step = minutes(view).filter(|step| curve.len() as f64 * step >= LAST_MINUTES as f64);
    step.map_or((None, None, LAST_MINUTES), |step| saturation_figures(&curve, step))
}

fn figures(view: &View<'_>) -> Vec<KeyFigure> {
    let worked_out = worked_out(view);
    // Only the source can tell whether the drive was steady.
    let last = match stated(view, STEADY) {
        Some(value) => (STEADY.to_owned(), Some(value)),
        None => (format!("RND 4KiB W, {}", not_judged(worked_out.2)), worked_out.1),
    };
    let figure = |name: &str, value| KeyFigure {
        name: name.into(),
        key: None,
        value,
        unit: Unit::Iops,
        absent: ABSENT,
        decimals: 0,
        host_limited: false,
    };
    vec![figure(FRESH, stated(view, FRESH).or(worked_out.0)), figure(&last.0, last.1)]
}

fn pages(view: &View<'_>) -> Vec<Page> {
    let mut pages = Vec::new();
    let points = view.points(STIMULUS, iops);
    if !points.is_empty() {
        // If the length of a round is not known, times and amounts are not known either.
        let (step, x) = minutes(view).map_or((1.0, "Round"), |step| (step, "Time (minutes)"));
        let time: Vec<(f64, f64)> = points.iter().map(|(round, value)| (round * step, *value)).collect();
        let curve = |key: &str, title: &str, reading, x: &str, y: (&str, Scale), points: &[(f64, f64)]| {
            let series = Series { name: "RND 4KiB W".into(), points: points.to_vec() };
            let lines = Lines::plain(reading, (x, Scale::LinearFromZero), y, vec![series]);
            Page::named(key, "WSAT", title, Exhibit::Lines(lines))
        };
        let (linear, log) = (("IOPS", Scale::LinearFromZero), ("IOPS", Scale::Log10));
        pages.push(curve(
            "linear-over-time",
            "IOPS (Linear) v Time (Linear)",
            ReadingHint::Saturation,
            x,
            linear,
            &time,
        ));
        pages.push(curve(
            "log-over-time",
            "IOPS (Log) v Time (Linear)",
            ReadingHint::Saturation,
            x,
            log,
            &time,
        ));
        if minutes(view).is_some() {
            let mut gigabytes = 0.0;
            let written = time.iter().map(|(_, value)| {
                gigabytes += value * step * 60.0 * f64::from(STIMULUS.block_bytes) / 1e9;
                (gigabytes, *value)
            });
            let written: Vec<(f64, f64)> = written.collect();
            pages.push(curve(
                "linear-over-written",
                "IOPS (Linear) v TGBW (Linear)",
                ReadingHint::OverWritten,
                "TGBW (GB)",
                linear,
                &written,
            ));
        }
        let latency = view.points(STIMULUS, average);
        if !latency.is_empty() {
            let latency: Vec<_> = latency.into_iter().map(|(round, value)| (round * step, value)).collect();
            let y = ("Average latency (ms)", Scale::LinearFromZero);
            pages.push(curve(
                "average-over-time",
                "Average Latency v Time",
                ReadingHint::SaturationTimes,
                x,
                y,
                &latency,
            ));
        }
    }
    if !view.test.figures.is_empty() {
        pages.push(table(view));
    }
    pages
}

/// Shows the published values by unit; drive fills are calculated from amounts and capacity.
fn table(view: &View<'_>) -> Page {
    let capacity = view.target.capacity_bytes as f64 / 1e9;
    let (mut rows, mut units): (Vec<Row>, Vec<String>) = (Vec::new(), Vec::new());
    for figure in &view.test.figures {
        let name = format!("{} ({})", figure.name, figure.unit);
        let cell = |value| vec![Cell::of(value, figure.host_limited, || ABSENT.into())];
        rows.push(Row { name, cells: cell(figure.value) });
        units.push(figure.unit.clone());
        if figure.unit == "GB" && capacity > 0.0 {
            let name = format!("{} (drive fills)", figure.name);
            rows.push(Row { name, cells: cell(figure.value.map(|value| value / capacity)) });
            units.push("drive fills".into());
        }
    }
    let table = Table {
        heading: "Write Saturation".into(),
        row_heading: "Figure".into(),
        column_heading: "as published".into(),
        columns: vec!["Value".into()],
        rows,
        decimals: 2,
        units: Units::OfRows(units),
    };
    let mut page = Page::named("table", "WSAT", "- FOB, Steady State, Peak Drop", Exhibit::Table(table));
    page.remarks.push("Drive fills are calculated: amount written / user capacity.".into());
    page
}
