//! Pages of the Throughput test: five for each block size.

use stdx::units::{block_size, kib};

use super::answers::{ThroughputAnswers, demand, precondition_block, throughput_of};
use crate::conclusions::header::{Phases, TestHeader};
use crate::exhibits::exhibit::{Bars, Cell, Exhibit, Page, Row, Series, Table};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::exhibits::window_pages;
use crate::method::profile::mix_name;
use crate::{Context, Deviation, KeyFigure, Outcome, Stop};

/// Percentages of reads in table and plot order: ascending.
const MIXES: [u8; 2] = [0, 100];

pub fn outcome(context: &Context<'_>, answers: &ThroughputAnswers, stop: Option<Stop>) -> Outcome {
    let size = |bytes: u32| block_size(u64::from(bytes));
    let mut begun = Outcome::begun(answers.test, context, answers.purge.as_ref(), context.test_range(), stop);
    if !context.profile.throughput_blocks.contains(&answers.block_bytes) {
        let subject = format!("Throughput of {}", size(answers.block_bytes));
        begun.modified.push(Deviation::NotInProfile { subject, revision: context.profile.revision });
    }
    let outcome = answers.rounds.conclude(begun, answers.precondition.as_ref(), None);
    let demand = demand(context);
    let written = size(precondition_block(context, answers));
    let phases = Phases {
        pre_condition_1: context.precondition_phase(demand, precondition_block(context, answers)),
        stimulus_1: [
            format!("SEQ {}", size(answers.block_bytes)),
            "100:0 / 0:100".into(),
            size(answers.block_bytes),
            demand.to_string(),
            outcome.header.steady_rounds(),
        ],
        ..Phases::default()
    };
    Outcome {
        tracked_unit: Some(Unit::MegabytesPerSecond),
        purpose: "measure sequential throughput of large blocks at steady state".into(),
        outline: format!(
            "purge; {}; read and write in turn, one cell each, until the writes are steady over five rounds",
            context.precondition_in_words()
        ),
        header: TestHeader {
            workload_independent: Some(format!(
                "{}X SEQ/{written}",
                context.settings.precondition_capacities
            )),
            workload_dependent: format!("SEQ {}", size(answers.block_bytes)),
            threads: Some(demand.threads),
            queue_depth: Some(demand.queue_depth),
            phases,
            ..outcome.header
        },
        pages: pages(context, answers),
        key_figures: key_figures(answers),
        ..outcome
    }
}

fn mean(answers: &ThroughputAnswers, read_percent: u8) -> Option<f64> {
    answers.rounds.mean(|segments| throughput_of(segments, answers.block_bytes, read_percent))
}

fn is_host_limited(answers: &ThroughputAnswers, read_percent: u8) -> bool {
    answers
        .rounds
        .is_host_limited(crate::method::profile::Cell { block_bytes: answers.block_bytes, read_percent })
}

fn pages(context: &Context<'_>, answers: &ThroughputAnswers) -> Vec<Page> {
    let points = |read| answers.rounds.points(|segments| throughput_of(segments, answers.block_bytes, read));
    let name = format!("SEQ/{}", block_size(u64::from(answers.block_bytes)));
    let over_rounds = |title: &str, read: u8| {
        let series = Series { name: format!("{name} {}", mix_name(read)), points: points(read) };
        window_pages::convergence(title, "MB/s", vec![series])
    };
    let window = answers.rounds.history.window();
    vec![
        over_rounds("Throughput - SS Convergence - Write", 0),
        over_rounds("Throughput - SS Convergence - Read", 100),
        window_pages::determination(
            &name,
            Unit::MegabytesPerSecond,
            points(0),
            window.first(),
            context.profile,
        ),
        table(answers),
        plot(answers),
    ]
}

fn table(answers: &ThroughputAnswers) -> Page {
    let cells = MIXES.map(|read_percent| {
        Cell::of(mean(answers, read_percent), is_host_limited(answers, read_percent), || {
            "not measured".into()
        })
    });
    let table = Table {
        heading: "Throughput (MB/s)".into(),
        row_heading: "Block Size (KiB)".into(),
        column_heading: "Read / Write Mix %".into(),
        columns: MIXES.map(mix_name).into(),
        rows: vec![Row { name: kib(u64::from(answers.block_bytes)), cells: cells.into() }],
        decimals: 1,
        units: Unit::MegabytesPerSecond.into(),
    };
    let mut page = Page::of("table", "Throughput - ALL RW Mix & BS - Tabular Data", Exhibit::Table(table));
    page.remarks.extend(answers.rounds.mean_remark());
    page
}

/// Bars, because a line from 0/100 to 100/0 would suggest values for mixes in between.
fn plot(answers: &ThroughputAnswers) -> Page {
    let bars = Bars {
        reading: ReadingHint::Mixes,
        name_label: "R/W Mix".into(),
        value_label: "MB/s".into(),
        bars: MIXES.map(|read| (mix_name(read), mean(answers, read))).into(),
    };
    Page::of("plot", "Throughput - ALL RW Mix & BS - 2D Plot", Exhibit::Bars(bars))
}

fn key_figures(answers: &ThroughputAnswers) -> Vec<KeyFigure> {
    let size = block_size(u64::from(answers.block_bytes));
    [(0, "W"), (100, "R")]
        .map(|(read, name)| KeyFigure {
            name: format!("SEQ {size} {name}"),
            key: None,
            value: mean(answers, read),
            host_limited: is_host_limited(answers, read),
            unit: Unit::MegabytesPerSecond,
            absent: "n/a",
            decimals: 1,
        })
        .into()
}
