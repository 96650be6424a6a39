//! Pages of the Latency test: six, plus the response-time histogram in PTS 2.0.

use record::Segment;
use stdx::Histogram;
use stdx::units::{block_size, kib};

use super::answers::{
    BLOCK_SIZES, DEMAND, HISTOGRAM_MINUTES, LatencyAnswers, MIXES, TRACKED, average_of, has_histogram,
    maximum_of,
};
use crate::conclusions::header::{Phases, TestHeader, titled};
use crate::conclusions::modified;
use crate::exhibits::exhibit::{
    Cell as TableCell, Columns3d, Exhibit, Page, PageKey, Row, SCALED, Series, Table,
};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::response::{self, FIVE_NINES, Tail};
use crate::exhibits::tail;
use crate::exhibits::unit::Unit;
use crate::exhibits::window_pages;
use crate::flows::rounds::{Round, find};
use crate::method::context::PRECONDITION_BLOCK;
use crate::method::profile::{Cell, mix_name};
use crate::{Context, KeyFigure, Outcome, Stop, Test};

pub fn outcome(test: &Test, context: &Context<'_>, answers: &LatencyAnswers, stop: Option<Stop>) -> Outcome {
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.test_range(), stop);
    let skips = answers.skipped.iter().map(|bytes| modified::skip_note(*bytes, context.target));
    modified::by_skips(skips, &mut begun.modified);
    if has_histogram(context) {
        modified::by_histogram(context, HISTOGRAM_MINUTES, &mut begun.modified);
    }
    let mut outcome =
        answers.rounds.conclude(begun, answers.precondition.as_ref(), answers.histogram.as_ref());
    outcome.notes.extend(context.maxima_note());
    let (demand, rounds) = (DEMAND.to_string(), outcome.header.steady_rounds());
    let looped = || "LAT Loop".to_owned();
    let mut phases = Phases {
        pre_condition_1: context.precondition_phase(context.demand(None), PRECONDITION_BLOCK),
        pre_condition_2: [looped(), demand.clone(), rounds.clone()],
        stimulus_1: [looped(), "Outer Loop".into(), "Inner Loop".into(), demand.clone(), rounds],
        ..Phases::default()
    };
    let mut histogram = String::new();
    if has_histogram(context) {
        let length = context.minutes_in_words(HISTOGRAM_MINUTES);
        histogram = format!("; record every response time of {length}");
        phases.stimulus_2 = [format!("Histogram, {}", TRACKED.name()), demand, titled(&length)];
    }
    Outcome {
        tracked_unit: Some(Unit::Milliseconds),
        purpose: "measure response times at one outstanding I/O at steady state".into(),
        outline: format!(
            "purge; {}; loop over 3 R/W mixes and 3 block sizes at TC 1 QD 1 until the average latency of \
             4 KiB writes is steady over five rounds{histogram}",
            context.precondition_in_words()
        ),
        header: TestHeader {
            workload_independent: Some(format!("{}X SEQ/128KiB", context.settings.precondition_capacities)),
            workload_dependent: "Full Latency Loop".into(),
            threads: Some(DEMAND.threads),
            queue_depth: Some(DEMAND.queue_depth),
            phases,
            ..outcome.header
        },
        pages: pages(context, answers),
        beyond: beyond(answers),
        key_figures: key_figures(context, answers),
        ..outcome
    }
}

/// A cell's figure for the tables, computed over the result rounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Figure {
    Iops,
    Average,
    FiveNines,
    Maximum,
}

impl Figure {
    fn of(self, context: &Context<'_>, answers: &LatencyAnswers, cell: Cell) -> Option<f64> {
        let rounds = &answers.rounds;
        match self {
            Self::Iops => rounds.mean(|segments| Some(find(segments, cell)?.iops())),
            Self::Average => rounds.mean(|segments| average_of(segments, cell)),
            Self::FiveNines => FIVE_NINES.of(&answers.times(cell)),
            Self::Maximum if !context.has_maxima() => None,
            // The overall maximum, because a mean of maxima would not describe any I/O.
            Self::Maximum => {
                let maxima = rounds.results().iter().filter_map(|round| maximum_of(&round.segments, cell));
                maxima.max_by(f64::total_cmp)
            }
        }
    }

    const fn unit(self) -> Unit {
        match self {
            Self::Iops => Unit::Iops,
            Self::Average | Self::FiveNines | Self::Maximum => Unit::Milliseconds,
        }
    }

    fn heading(self) -> (&'static str, usize) {
        match self {
            Self::Iops => ("IOPS", 1),
            Self::Average => ("Average Response Time (ms)", 3),
            Self::FiveNines => ("99.999 % Response Time (ms)", 3),
            Self::Maximum => ("Maximum Response Time (ms)", 3),
        }
    }
}

fn pages(context: &Context<'_>, answers: &LatencyAnswers) -> Vec<Page> {
    let rounds = &answers.rounds;
    let window = rounds.history.window();
    let tracked = rounds.points(|segments| average_of(segments, TRACKED));
    let average = "Steady State Convergence - Average Latency (100 % writes)";
    let average = over_rounds(answers, average, "Average latency (ms)", 0, average_of);
    let average_columns = |segments: &LatencyAnswers, cell| Figure::Average.of(context, segments, cell);
    let mut pages = vec![
        average,
        maxima_over_rounds(context, answers),
        window_pages::determination(
            &TRACKED.short_name(),
            Unit::Milliseconds,
            tracked,
            window.first(),
            context.profile,
        ),
        tables(context, answers),
        columns(
            answers,
            "average-columns".into(),
            "AVE Latency v BS and R/W Mix - 3D Plot",
            "Average (ms)",
            average_columns,
        ),
        maxima_columns(context, answers),
    ];
    if has_histogram(context) {
        let title = "Response Time Histogram - Confidence Level Plot";
        pages.push(response::page("response-times", title, answers.histogram.as_ref(), context));
    }
    pages
}

/// Convergence of the mixes that the specification does not show: 100/0 and 65/35.
fn beyond(answers: &LatencyAnswers) -> Vec<Page> {
    let mixes = [(100, "100 % reads"), (65, "65/35 reads and writes")];
    let page = |(read_percent, name): (u8, &str)| {
        let title = format!("Steady State Convergence - Average Latency ({name})");
        over_rounds(answers, &title, "Average latency (ms)", read_percent, average_of)
    };
    mixes.into_iter().map(page).chain([tail_of_mixes(answers)]).collect()
}

/// The tail of each mix at the tracked block size.
fn tail_of_mixes(answers: &LatencyAnswers) -> Page {
    let times: Vec<(String, Histogram)> = mixes()
        .map(|read_percent| Cell { read_percent, ..TRACKED })
        .map(|cell| (cell.name(), answers.times(cell)))
        .collect();
    let measured: Vec<(String, &Histogram)> =
        times.iter().map(|(name, times)| (name.clone(), times)).collect();
    tail::page("Response Time Tail by R/W Mix", &measured)
}

fn over_rounds(
    answers: &LatencyAnswers,
    title: &str,
    label: &str,
    read_percent: u8,
    of: impl Fn(&[Segment], Cell) -> Option<f64>,
) -> Page {
    let series = sizes().filter(|bytes| !answers.skipped.contains(bytes)).map(|block_bytes| Series {
        name: block_size(u64::from(block_bytes)),
        points: answers.rounds.points(|segments| of(segments, Cell { block_bytes, read_percent })),
    });
    window_pages::convergence(title, label, series.collect())
}

const fn writes(block_bytes: u32) -> Cell {
    Cell { block_bytes, read_percent: 0 }
}

fn maxima_over_rounds(context: &Context<'_>, answers: &LatencyAnswers) -> Page {
    let title = "Steady State Convergence - Maximum Latency (100 % writes)";
    if context.has_maxima() {
        return over_rounds(answers, title, "Maximum latency (ms)", 0, maximum_of);
    }
    let times = |segments: &[Segment], cell| response::merged(find(segments, cell));
    let of_round = |round: &Round| {
        let cells = sizes().map(|bytes| times(&round.segments, writes(bytes)).count());
        cells.filter(|ios| *ios > 0).min()
    };
    let tail = Tail::of(answers.rounds.done.iter().filter_map(of_round).min().unwrap_or(0));
    let value = |segments: &[Segment], cell| tail.value(&times(segments, cell));
    let mut page = over_rounds(answers, &tail.title(title), &tail.label(), 0, value);
    page.remarks.extend(tail.remark(context));
    page
}

fn maxima_columns(context: &Context<'_>, answers: &LatencyAnswers) -> Page {
    let title = "MAX Latency v BS and R/W Mix - 3D Plot";
    if context.has_maxima() {
        return columns(answers, "maximum-columns".into(), title, "Maximum (ms)", |answers, cell| {
            Figure::Maximum.of(context, answers, cell)
        });
    }
    let cells = || mixes().flat_map(|read| sizes().map(move |bytes| (bytes, read)));
    let ios =
        cells().map(|(block_bytes, read_percent)| answers.times(Cell { block_bytes, read_percent }).count());
    let tail = Tail::of(ios.filter(|ios| *ios > 0).min().unwrap_or(0));
    let value = |answers: &LatencyAnswers, cell| tail.value(&answers.times(cell));
    let key = tail.key("maximum-columns");
    let mut page = columns(answers, key, &tail.title(title), &tail.label(), value);
    page.remarks.extend(tail.remark(context));
    page
}

impl LatencyAnswers {
    /// A cell's response times in the result rounds.
    fn times(&self, cell: Cell) -> Histogram {
        response::merged(self.rounds.results().iter().filter_map(|round| find(&round.segments, cell)))
    }
}

/// Percentages of reads in table and plot order: ascending.
fn mixes() -> impl Iterator<Item = u8> {
    MIXES.into_iter().rev()
}

/// Block sizes in table and plot order: ascending.
fn sizes() -> impl Iterator<Item = u32> {
    BLOCK_SIZES.into_iter().rev()
}

fn tables(context: &Context<'_>, answers: &LatencyAnswers) -> Page {
    let shown: &[Figure] = if has_histogram(context) {
        &[Figure::Iops, Figure::Average, Figure::FiveNines, Figure::Maximum]
    } else {
        &[Figure::Average, Figure::Maximum]
    };
    let fifth_nine =
        if has_histogram(context) { "; 99.999 % needs 1,000,000 I/Os in these rounds" } else { "" };
    let maxima = context.maxima_note().unwrap_or_else(|| "maxima are the largest of these rounds".into());
    let remark = format!("Rounds {}; {maxima}{fifth_nine}.", answers.rounds.names());
    Page {
        key: Some("table".into()),
        title: "Average and Maximum Response Time - Tabular Data".into(),
        names_test: false,
        exhibits: shown.iter().map(|figure| Exhibit::Table(table(context, answers, *figure))).collect(),
        remarks: vec![remark],
    }
}

fn table(context: &Context<'_>, answers: &LatencyAnswers, figure: Figure) -> Table {
    let (heading, decimals) = figure.heading();
    let absent = |block_bytes: u32| match figure {
        _ if answers.skipped.contains(&block_bytes) => "n/a (4Kn)",
        Figure::Maximum if !context.has_maxima() => SCALED,
        Figure::FiveNines if !answers.rounds.done.is_empty() => "n/a",
        _ => "not measured",
    };
    let cell = |block_bytes, read_percent| {
        let cell = Cell { block_bytes, read_percent };
        let limited = answers.rounds.is_host_limited(cell);
        TableCell::of(figure.of(context, answers, cell), limited, || absent(block_bytes).into())
    };
    Table {
        heading: heading.into(),
        row_heading: "Block Size (KiB)".into(),
        column_heading: "Read / Write Mix %".into(),
        columns: mixes().map(mix_name).collect(),
        rows: sizes()
            .map(|bytes| Row {
                name: kib(u64::from(bytes)),
                cells: mixes().map(|read| cell(bytes, read)).collect(),
            })
            .collect(),
        decimals,
        units: figure.unit().into(),
    }
}

fn columns(
    answers: &LatencyAnswers,
    key: PageKey,
    title: &str,
    height: &str,
    of: impl Fn(&LatencyAnswers, Cell) -> Option<f64>,
) -> Page {
    let value = |block_bytes, read_percent| of(answers, Cell { block_bytes, read_percent });
    let columns = Columns3d {
        reading: ReadingHint::Columns,
        x_label: "Block Size (KiB)".into(),
        x: sizes().map(|b| kib(u64::from(b))).collect(),
        depth_label: "R/W Mix".into(),
        depth: mixes().map(mix_name).collect(),
        height_label: height.into(),
        heights: mixes().map(|read| sizes().map(|bytes| value(bytes, read)).collect()).collect(),
    };
    Page::of(key, title, Exhibit::Columns3d(columns))
}

fn key_figures(context: &Context<'_>, answers: &LatencyAnswers) -> Vec<KeyFigure> {
    let cell = |read_percent| Cell { read_percent, ..TRACKED };
    [("average", Figure::Average), ("maximum", Figure::Maximum)]
        .into_iter()
        .flat_map(|(kind, figure)| [(kind, figure, 100), (kind, figure, 0)])
        .map(|(kind, figure, read)| KeyFigure {
            name: format!("{} {kind}", cell(read).name()),
            key: None,
            value: figure.of(context, answers, cell(read)),
            host_limited: answers.rounds.is_host_limited(cell(read)),
            absent: if figure == Figure::Maximum && !context.has_maxima() { SCALED } else { "n/a" },
            unit: Unit::Milliseconds,
            decimals: 3,
        })
        .collect()
}
