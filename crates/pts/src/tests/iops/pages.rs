//! Pages of the IOPS test: six in PTS 1.0, with one window page per tracking variable in PTS 2.0.

use stdx::units::{block_size, kib};

use super::answers::{BLOCK_SIZES, IopsAnswers, iops_of, mixes, sizes};
use super::every_cell;
use crate::conclusions::header::{Phases, TestHeader};
use crate::conclusions::modified;
use crate::exhibits::exhibit::{
    Axis, Cell as TableCell, Columns3d, Exhibit, Lines, Page, Row, Scale, Series, Table,
};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::exhibits::window_pages;
use crate::method::context::PRECONDITION_BLOCK;
use crate::method::profile::{Cell, mix_name};
use crate::quality::harmonic;
use crate::{Context, KeyFigure, Outcome, Stop, Test};

pub fn outcome(test: &Test, context: &Context<'_>, answers: &IopsAnswers, stop: Option<Stop>) -> Outcome {
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.test_range(), stop);
    let skips = answers.skipped.iter().map(|bytes| modified::skip_note(*bytes, context.target));
    modified::by_skips(skips, &mut begun.modified);
    let mut outcome = answers.rounds.conclude(begun, answers.precondition.as_ref(), None);
    outcome.notes.extend(plausibility(answers));
    let (demand, rounds) = (context.demand(None).to_string(), outcome.header.steady_rounds());
    let looped = || "IOPS Loop".to_owned();
    let phases = Phases {
        pre_condition_1: context.precondition_phase(context.demand(None), PRECONDITION_BLOCK),
        pre_condition_2: [looped(), demand.clone(), rounds.clone()],
        stimulus_1: [looped(), "Outer Loop".into(), "Inner Loop".into(), demand, rounds],
        ..Phases::default()
    };
    Outcome {
        tracked_unit: Some(Unit::Iops),
        purpose: "measure random IOPS of every R/W mix and block size at steady state".into(),
        outline: format!(
            "purge; {}; loop over 7 R/W mixes and 8 block sizes until {} steady over five rounds",
            context.precondition_in_words(),
            match context.profile.iops_tracking.len() {
                1 => "the tracking variable is".to_owned(),
                several => format!("all {several} tracking variables are"),
            }
        ),
        header: TestHeader {
            workload_independent: Some(format!("{}X SEQ/128KiB", context.settings.precondition_capacities)),
            workload_dependent: "Full IOPS Loop".into(),
            phases,
            ..outcome.header
        },
        pages: pages(context, answers),
        beyond: [rounds_overlaid(answers)].into_iter().chain(every_cell::page(answers)).collect(),
        key_figures: key_figures(answers),
        ..outcome
    }
}

/// Mean over the result rounds.
fn mean(answers: &IopsAnswers, cell: Cell) -> Option<f64> {
    answers.rounds.mean(|segments| iops_of(segments, cell))
}

fn pages(context: &Context<'_>, answers: &IopsAnswers) -> Vec<Page> {
    let mut pages = vec![convergence(answers)];
    let tracking = context.profile.iops_tracking;
    let values = |cell: Cell| answers.rounds.points(|segments| iops_of(segments, cell));
    let window = answers.rounds.history.window();
    let first = tracking[0];
    pages.push(window_pages::history(&first.name(), Unit::Iops, values(first), window.first()));
    for (i, cell) in tracking.iter().enumerate() {
        pages.push(window_pages::determination(
            &cell.short_name(),
            Unit::Iops,
            values(*cell),
            window.get(i),
            context.profile,
        ));
    }
    pages.extend([table(answers), plot_2d(answers), columns_3d(answers)]);
    pages
}

fn convergence(answers: &IopsAnswers) -> Page {
    let series =
        BLOCK_SIZES.iter().rev().filter(|b| !answers.skipped.contains(b)).map(|&block_bytes| Series {
            name: block_size(u64::from(block_bytes)),
            points: answers
                .rounds
                .points(|segments| iops_of(segments, Cell { block_bytes, read_percent: 0 })),
        });
    let title = "Steady State Convergence Plot - All Block Sizes";
    window_pages::convergence(title, "IOPS (R/W 0/100)", series.collect())
}

fn plausibility(answers: &IopsAnswers) -> Option<String> {
    let cells =
        sizes().flat_map(|block_bytes| mixes().map(move |read_percent| Cell { block_bytes, read_percent }));
    harmonic::note(cells, |cell| mean(answers, cell))
}

fn table(answers: &IopsAnswers) -> Page {
    let absent =
        |block_bytes: u32| if answers.skipped.contains(&block_bytes) { "n/a (4Kn)" } else { "not measured" };
    let rows = sizes().map(|block_bytes| Row {
        name: kib(u64::from(block_bytes)),
        cells: mixes()
            .map(|read_percent| {
                let cell = Cell { block_bytes, read_percent };
                let limited = answers.rounds.is_host_limited(cell);
                TableCell::of(mean(answers, cell), limited, || absent(block_bytes).into())
            })
            .collect(),
    });
    let table = Table {
        heading: "IOPS".into(),
        row_heading: "Block Size (KiB)".into(),
        column_heading: "Read / Write Mix %".into(),
        columns: mixes().map(mix_name).collect(),
        rows: rows.collect(),
        decimals: 1,
        units: Unit::Iops.into(),
    };
    let mut page = Page::of("table", "IOPS - ALL RW Mix & BS - Tabular Data", Exhibit::Table(table));
    page.remarks.extend(answers.rounds.mean_remark());
    page
}

fn plot_2d(answers: &IopsAnswers) -> Page {
    let series = mixes().map(|read_percent| Series {
        name: mix_name(read_percent),
        points: sizes()
            .filter_map(|block_bytes| {
                let value = mean(answers, Cell { block_bytes, read_percent })?;
                Some((f64::from(block_bytes) / 1024.0, value))
            })
            .collect(),
    });
    let lines = Lines {
        reading: ReadingHint::ByBlockSize,
        x: Axis { label: "Block Size (KiB)".into(), scale: Scale::Log2 },
        y: Axis { label: "IOPS".into(), scale: Scale::Log10 },
        series: series.collect(),
        guides: Vec::new(),
        marked: None,
        bands: Vec::new(),
    };
    Page::named("plot", "IOPS", "- ALL RW Mix & BS - 2D Plot", Exhibit::Lines(lines))
}

/// The first round and the rounds of the window, one line each. They show how much performance changed after
/// preconditioning, and how much the rounds differ.
fn rounds_overlaid(answers: &IopsAnswers) -> Page {
    let series = |number: usize| {
        let round = &answers.rounds.done[number - 1];
        let point = |block_bytes: u32| {
            let value = iops_of(&round.segments, Cell { block_bytes, read_percent: 0 })?;
            Some((f64::from(block_bytes) / 1024.0, value))
        };
        Series { name: format!("Round {number}"), points: sizes().filter_map(point).collect() }
    };
    let done = answers.rounds.done.len();
    let last = done.saturating_sub(answers.rounds.results().len());
    let numbers = (1..=done).filter(|number| *number == 1 || *number > last);
    let (x, y) = (("Block Size (KiB)", Scale::Log2), ("IOPS (R/W 0/100)", Scale::Log10));
    let lines = Lines::plain(ReadingHint::Rounds, x, y, numbers.map(series).collect());
    Page::named("rounds", "IOPS", "- Writes by Block Size - Rounds Overlaid", Exhibit::Lines(lines))
}

fn columns_3d(answers: &IopsAnswers) -> Page {
    let heights = mixes().map(|read_percent| {
        sizes().map(|block_bytes| mean(answers, Cell { block_bytes, read_percent })).collect()
    });
    let columns = Columns3d {
        reading: ReadingHint::Columns,
        x_label: "Block Size (KiB)".into(),
        x: sizes().map(|b| kib(u64::from(b))).collect(),
        depth_label: "R/W Mix".into(),
        depth: mixes().map(mix_name).collect(),
        height_label: "IOPS".into(),
        heights: heights.collect(),
    };
    Page::named("columns", "IOPS", "- ALL RW Mix & BS - 3D Columns", Exhibit::Columns3d(columns))
}

fn key_figures(answers: &IopsAnswers) -> Vec<KeyFigure> {
    [(4096, 0), (4096, 100), (8192, 0), (8192, 100)]
        .map(|(block_bytes, read_percent)| Cell { block_bytes, read_percent })
        .map(|cell| KeyFigure {
            name: cell.name(),
            key: None,
            value: mean(answers, cell),
            host_limited: answers.rounds.is_host_limited(cell),
            unit: Unit::Iops,
            absent: "n/a",
            decimals: 0,
        })
        .into()
}
