//! The enterprise workload of JESD219 (not part of the PTS): twelve block sizes in three LBA groups,
//! 40 % reads, in rounds of a minute until the IOPS are steady.

mod answers;
mod pages;

use record::{Segment, Workload};

use crate::flows::composite::{Composite, PAGE_BYTES};
use crate::flows::rounds::Rounds;
use crate::method::history::Tracked;
use crate::method::profile::Cell;
use crate::{Bench, Context, Outcome, Stop, Test, Unit};
use answers::{DEMAND, Jesd219Answers, NAME, READ_PERCENT};

/// The JESD219 test.
pub const TEST: Test = Test {
    name: "jesd219",
    family: "jesd219",
    title: "JESD219 Enterprise",
    subject: "JESD219 Enterprise",
    about: "not part of the PTS: enterprise workload of JESD219, 40 % reads, 0.5 to 64 KiB, rounds to steady state",
    run,
    cells_per_round: 1,
    round_name: "round",
    timeline: false,
    fixed_rounds: None,
    tracked_unit: Some(Unit::Iops),
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let rounds = Rounds::of(vec![NAME.into()]);
    let composite = Composite::of(context);
    let mut answers = Jesd219Answers { composite, purge: None, precondition: None, rounds };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(&TEST, context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut Jesd219Answers) -> Result<(), Stop> {
    answers.composite.check(context)?;
    answers.purge = Some(bench.purge()?);
    answers.precondition = Some(bench.write(&context.precondition())?);
    let composite = &answers.composite;
    let workload = |_: &_, round, step, ()| workload(context, composite, round, step);
    let tracked = |segments: &[Segment]| vec![Tracked::of(segments.first(), |segment| Some(segment.iops()))];
    answers.rounds.repeat(context, bench, &[()], workload, tracked)
}

/// All offsets are multiples of 4 KiB, even those of smaller I/Os.
fn workload(context: &Context<'_>, composite: &Composite, round: u32, step: u32) -> Workload {
    let cell = Cell { block_bytes: PAGE_BYTES, read_percent: READ_PERCENT };
    let plain = context.cell_at(context.demand(Some(DEMAND)), round, step, cell);
    Workload { range: context.whole_test_range(), align_bytes: PAGE_BYTES, ..composite.apply(plain) }
}
