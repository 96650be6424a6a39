//! IOPS (PTS 1.0 clause 8, PTS 2.0 clause 7): random I/O over seven R/W mixes and eight block sizes,
//! repeated until the tracking variables are steady.

mod answers;
mod every_cell;
mod pages;

use record::Segment;

use crate::conclusions::modified;
use crate::flows::rounds::{Round, Rounds, find};
use crate::method::history::Tracked;
use crate::method::profile::Cell;
use crate::{Bench, Context, Outcome, Stop, Test, Unit};
use answers::{BLOCK_SIZES, IopsAnswers, MIXES};

/// The IOPS test.
pub const TEST: Test = Test {
    name: "iops",
    family: "iops",
    title: "IOPS",
    subject: "IOPS",
    about: "random IOPS, 7 R/W mixes x 8 block sizes, rounds to steady state",
    run,
    cells_per_round: (MIXES.len() * BLOCK_SIZES.len()) as u32,
    round_name: "round",
    timeline: false,
    fixed_rounds: None,
    tracked_unit: Some(Unit::Iops),
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers = IopsAnswers {
        purge: None,
        precondition: None,
        skipped: context.impossible(&BLOCK_SIZES),
        rounds: Rounds::of(context.profile.iops_tracking.iter().map(|cell| cell.name()).collect()),
    };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(&TEST, context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut IopsAnswers) -> Result<(), Stop> {
    let cells = cells(&answers.skipped);
    for bytes in &answers.skipped {
        bench.note(modified::skip_note(*bytes, context.target))?;
    }
    answers.purge = Some(bench.purge()?);
    answers.precondition = Some(bench.write(&context.precondition())?);
    let workload =
        |_: &[Round], round, step, cell: Cell| context.cell(round, step, cell.read_percent, cell.block_bytes);
    let tracked = |segments: &[Segment]| {
        let value = |cell: &Cell| Tracked::of(find(segments, *cell), |segment| Some(segment.iops()));
        context.profile.iops_tracking.iter().map(value).collect()
    };
    answers.rounds.repeat(context, bench, &cells, workload, tracked)
}

/// The cells of a round in the order of the specification, except those that the device does not support.
fn cells(skipped: &[u32]) -> Vec<Cell> {
    MIXES
        .into_iter()
        .flat_map(|read_percent| BLOCK_SIZES.map(|block_bytes| Cell { block_bytes, read_percent }))
        .filter(|cell| !skipped.contains(&cell.block_bytes))
        .collect()
}
