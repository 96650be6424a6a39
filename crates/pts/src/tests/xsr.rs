//! Cross stimulus recovery (PTS-E 1.1 and PTS 2.0 clause 12): large sequential writes, small random writes, then
//! large sequential writes again, for hours without a pause. The test does not require steady state.

mod answers;
mod figures;
mod pages;

use record::{Until, Workload};

use crate::conclusions::incidents::Incidents;
use crate::exhibits::response::merged;
use crate::method::profile::Cell;
use crate::method::timeline::course;
use crate::{Bench, Context, Outcome, Stop, Test};
use answers::{CrossAnswers, DEMAND, GROUPS, Group};

/// The XSR test.
pub const TEST: Test = Test {
    name: "xsr",
    family: "xsr",
    title: "Cross Stimulus Recovery",
    subject: "Cross Stimulus Recovery",
    about: "sequential writes for 8 h, random writes for 6 h, sequential writes for 8 h",
    run,
    cells_per_round: GROUPS.len() as u32,
    round_name: "round",
    timeline: true,
    fixed_rounds: None,
    tracked_unit: None,
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers =
        CrossAnswers { purge: None, groups: Vec::new(), times: Vec::new(), incidents: Incidents::default() };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(&TEST, context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut CrossAnswers) -> Result<(), Stop> {
    answers.purge = Some(bench.purge()?);
    let mut start = 0.0;
    for (step, group) in GROUPS.iter().enumerate() {
        let segment = bench.run(&workload(context, step as u32, group))?;
        let minutes = group.hours * 60;
        answers.incidents.see(&segment);
        answers.groups.push(course(&segment, start, f64::from(minutes), minutes as usize));
        answers.times.push(merged([&segment]));
        start += f64::from(minutes);
    }
    Ok(())
}

fn workload(context: &Context<'_>, step: u32, group: &Group) -> Workload {
    let cell = Cell { block_bytes: group.block_bytes, read_percent: 0 };
    Workload {
        access: group.access,
        range: context.whole_test_range(),
        until: Until::DurationNs(context.minutes_ns(group.hours * 60)),
        ..context.cell_at(context.demand(Some(DEMAND)), 1, step, cell)
    }
}
