//! Pages of a replayed trace: each figure by step, beside the original.

use stdx::units::{count_of, counted};

use super::super::answers::CustomAnswers;
use super::super::figures::{Figure, key_figure};
use super::super::replayed::{ReplayedStep, StepFigures, replayed, totals};
use crate::exhibits::exhibit::{Cell, Exhibit, Lines, Page, Row, SCALED, Scale, Series, Table, Units};
use crate::exhibits::reading::ReadingHint;
use crate::{Context, KeyFigure};

/// Rows of a table that are legible on one page.
const ROWS: usize = 16;

/// A figure by step.
struct Quantity {
    key: &'static str,
    title: &'static str,
    label: &'static str,
    unit: &'static str,
    is_time: bool,
    of: fn(&StepFigures) -> Option<f64>,
}

const QUANTITIES: [Quantity; 5] = [
    Quantity {
        key: "iops",
        title: "IOPS",
        label: "IOPS",
        unit: "IOPS",
        is_time: false,
        of: |figures| Some(figures.iops),
    },
    Quantity {
        key: "throughput",
        title: "Throughput",
        label: "MB/s",
        unit: "MB/s",
        is_time: false,
        of: |figures| Some(figures.megabytes),
    },
    Quantity {
        key: "average",
        title: "Average Response Time",
        label: "ART (ms)",
        unit: "ms",
        is_time: true,
        of: |figures| figures.mean_ms,
    },
    Quantity {
        key: "maximum",
        title: "Maximum Response Time",
        label: "MRT (ms)",
        unit: "ms",
        is_time: true,
        of: |figures| figures.max_ms,
    },
    Quantity {
        key: "outstanding",
        title: "Outstanding I/Os",
        label: "Mean QD",
        unit: "",
        is_time: false,
        of: |figures| figures.outstanding,
    },
];

const CLOSED_LOOP: &str = "Each step keeps the original's mean number of outstanding I/Os until its idle time, so a \
                           faster drive completes more I/Os. All figures refer to the whole step.";

pub fn replayed_pages(context: &Context<'_>, answers: &CustomAnswers<'_>) -> Vec<Page> {
    let steps = replayed(context, answers);
    let mut pages = vec![overview(context, &steps)];
    pages.extend(QUANTITIES.iter().filter_map(|quantity| over_steps(quantity, &steps)));
    pages.extend(steps.chunks(ROWS).map(|steps| table(context, steps)));
    pages
}

/// Says how many steps are complete.
pub fn replayed_note(answers: &CustomAnswers<'_>) -> String {
    let (done, all) = (counted(answers.replayed), counted(answers.test.steps.len()));
    format!("NOT COMPLETE: {done} of {all} steps are replayed")
}

pub fn replayed_figures(context: &Context<'_>, answers: &CustomAnswers<'_>) -> Vec<KeyFigure> {
    let steps = replayed(context, answers);
    let [_, replay] = totals(&steps);
    let host_limited = steps.iter().any(|step| step.host_limited);
    let value = |value: f64| (!steps.is_empty()).then_some(value);
    let figure = |name: &str, figure, value| key_figure(name.into(), figure, value, host_limited);
    vec![
        figure("Rate", Figure::Iops, value(replay.iops)),
        figure("Throughput", Figure::Megabytes, value(replay.megabytes)),
        figure("ART", Figure::MeanLatency, replay.mean_ms),
        KeyFigure {
            absent: if context.has_maxima() { "n/a" } else { SCALED },
            ..figure("MRT", Figure::MaxLatency, replay.max_ms)
        },
    ]
}

/// Returns why a value of the original or of the replay is absent.
fn absent(context: &Context<'_>, quantity: &Quantity, is_replay: bool) -> String {
    let is_scaled = is_replay && quantity.key == "maximum" && !context.has_maxima();
    if is_scaled { SCALED.into() } else { "n/a".into() }
}

fn overview(context: &Context<'_>, steps: &[ReplayedStep]) -> Page {
    let [original, replay] = totals(steps);
    let host_limited = steps.iter().any(|step| step.host_limited);
    let row = |quantity: &Quantity| {
        let (before, now) = ((quantity.of)(&original), (quantity.of)(&replay));
        let ratio = before.zip(now).filter(|(before, _)| *before > 0.0).map(|(before, now)| now / before);
        Row {
            name: quantity.title.into(),
            cells: vec![
                Cell::of(before, false, || absent(context, quantity, false)),
                Cell::of(now, host_limited, || absent(context, quantity, true)),
                Cell::of(ratio, false, || "n/a".into()),
            ],
        }
    };
    let table = Table {
        heading: "Replay and original".into(),
        row_heading: "Figure".into(),
        column_heading: count_of(steps.len(), "step"),
        columns: ["Original", "Replay", "Replay / original"].map(String::from).into(),
        rows: QUANTITIES.iter().map(row).collect(),
        decimals: 3,
        units: Units::OfRows(QUANTITIES.iter().map(|quantity| quantity.unit.into()).collect()),
    };
    Page {
        remarks: vec![CLOSED_LOOP.into()],
        ..Page::of("all-steps", "Replay and Original", Exhibit::Table(table))
    }
}

/// Returns the chart of a figure; None if the replay does not have it.
fn over_steps(quantity: &Quantity, steps: &[ReplayedStep]) -> Option<Page> {
    let series = |name: &str, of: fn(&ReplayedStep) -> &StepFigures| {
        let point = |step: &ReplayedStep| Some((step.number as f64, (quantity.of)(of(step))?));
        Series { name: name.into(), points: steps.iter().filter_map(point).collect() }
    };
    let mut all = vec![series("Original", |step| &step.original), series("Replay", |step| &step.replay)];
    let is_drawn = !all[1].points.is_empty();
    all.retain(|series| !series.points.is_empty());
    let scale = if quantity.is_time { Scale::Log10 } else { Scale::LinearFromZero };
    let (x, y) = (("Step", Scale::Integer), (quantity.label, scale));
    let lines = Lines::plain(ReadingHint::ReplayedSteps, x, y, all);
    let title = format!("{} v Step", quantity.title);
    is_drawn.then(|| Page::of(format!("{}-by-step", quantity.key), &title, Exhibit::Lines(lines)))
}

fn table(context: &Context<'_>, steps: &[ReplayedStep]) -> Page {
    let row = |step: &ReplayedStep| {
        let both = |quantity: &Quantity| {
            let (before, now) = ((quantity.of)(&step.original), (quantity.of)(&step.replay));
            [
                Cell::of(before, false, || absent(context, quantity, false)),
                Cell::of(now, step.host_limited, || absent(context, quantity, true)),
            ]
        };
        Row { name: step.number.to_string(), cells: QUANTITIES.iter().flat_map(both).collect() }
    };
    let columns = |quantity: &Quantity| [format!("{} original", quantity.label), quantity.label.to_owned()];
    let units = |quantity: &Quantity| [quantity.unit.to_owned(), quantity.unit.to_owned()];
    let table = Table {
        heading: "Replay and original".into(),
        row_heading: "Step".into(),
        column_heading: "Figure".into(),
        columns: QUANTITIES.iter().flat_map(columns).collect(),
        rows: steps.iter().map(row).collect(),
        decimals: 3,
        units: Units::OfColumns(QUANTITIES.iter().flat_map(units).collect()),
    };
    let (first, last) =
        (steps.first().map_or(0, |step| step.number), steps.last().map_or(0, |step| step.number));
    let title = format!("Steps {first} to {last} - Tabular Data");
    Page::of(format!("steps-from-{first}"), &title, Exhibit::Table(table))
}
