//! Latency (PTS 1.0 clause 10; PTS-E 1.1 and PTS 2.0 clause 9): random I/O with one I/O outstanding, over three R/W
//! mixes and three block sizes, repeated until the mean response time of 4 KiB writes is steady. PTS 2.0 then records
//! every response time for 20 minutes.

mod answers;
mod pages;

use record::{Segment, Until, Workload};

use crate::conclusions::modified;
use crate::flows::rounds::{Round, Rounds, find};
use crate::method::history::Tracked;
use crate::method::profile::Cell;
use crate::{Bench, Context, Outcome, Stop, Test, Unit};
use answers::{BLOCK_SIZES, DEMAND, HISTOGRAM_MINUTES, LatencyAnswers, MIXES, TRACKED, has_histogram};

/// The Latency test.
pub const TEST: Test = Test {
    name: "lat",
    family: "lat",
    title: "Latency",
    subject: "Latency",
    about: "response times at one outstanding I/O, 3 R/W mixes x 3 block sizes, rounds to steady state",
    run,
    cells_per_round: (MIXES.len() * BLOCK_SIZES.len()) as u32,
    round_name: "round",
    timeline: false,
    fixed_rounds: None,
    tracked_unit: Some(Unit::Milliseconds),
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers = LatencyAnswers {
        purge: None,
        precondition: None,
        skipped: context.impossible(&BLOCK_SIZES),
        rounds: Rounds::of(vec![format!("{} average latency", TRACKED.name())]),
        histogram: None,
    };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(&TEST, context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut LatencyAnswers) -> Result<(), Stop> {
    let cells = cells(&answers.skipped);
    for bytes in &answers.skipped {
        bench.note(modified::skip_note(*bytes, context.target))?;
    }
    answers.purge = Some(bench.purge()?);
    answers.precondition = Some(bench.write(&context.precondition())?);
    let workload = |_: &[Round], round, step, cell| context.cell_at(DEMAND, round, step, cell);
    let tracked = |segments: &[Segment]| vec![Tracked::of(find(segments, TRACKED), Segment::mean_latency_ms)];
    answers.rounds.repeat(context, bench, &cells, workload, tracked)?;
    if has_histogram(context) {
        answers.histogram = Some(bench.run(&histogram_run(context))?);
    }
    Ok(())
}

/// Returns the cells of a round in the order of the specification, except those that the device does not support.
fn cells(skipped: &[u32]) -> Vec<Cell> {
    MIXES
        .into_iter()
        .flat_map(|read_percent| BLOCK_SIZES.map(|block_bytes| Cell { block_bytes, read_percent }))
        .filter(|cell| !skipped.contains(&cell.block_bytes))
        .collect()
}

/// Rounds start at 1, so no cell uses the offsets of round 0.
fn histogram_run(context: &Context<'_>) -> Workload {
    Workload {
        until: Until::DurationNs(context.minutes_ns(HISTOGRAM_MINUTES)),
        ..context.cell_at(DEMAND, 0, 1, TRACKED)
    }
}
