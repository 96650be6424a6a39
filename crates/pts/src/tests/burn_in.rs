//! Burn-in (not part of the PTS): hours of load whose data is verified, followed by a verdict on
//! the drive based on its data, I/Os and health.

mod answers;
mod limits;
mod load;
mod pages;

use crate::conclusions::incidents::Incidents;
use crate::{Bench, Context, Outcome, Stop, Test};
use answers::{BurnInAnswers, CELLS_PER_HOUR, Part};
use limits::Limits;
use load::Load;

/// The burn-in test.
pub const TEST: Test = Test {
    name: "burn-in",
    family: "burn-in",
    title: "Burn-In",
    subject: "Burn-In",
    about: "not part of the PTS: hours of verified load with health limits, and one verdict, PASS or FAIL",
    run,
    cells_per_round: CELLS_PER_HOUR,
    round_name: "round",
    timeline: false,
    fixed_rounds: None,
    tracked_unit: None,
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let limits = match Limits::of(context) {
        Ok(limits) => limits,
        Err(why) => {
            return Outcome::begun(&TEST, context, None, context.whole_test_range(), Some(Stop::Failed(why)));
        }
    };
    let mut answers = BurnInAnswers::of(limits, Load::of(context));
    let stop = measure(context, bench, &mut answers).err();
    answers.health = bench.recorded_health();
    pages::outcome(&TEST, context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut BurnInAnswers) -> Result<(), Stop> {
    answers.load.check(context)?;
    answers.purge = Some(bench.purge()?);
    for cell in 0..answers.limits.hours * CELLS_PER_HOUR {
        let segment = bench.run(&answers.load.workload(context, cell))?;
        answers.incidents.see(&segment);
        answers.parts.push(Part::of(&segment));
        // No later result could change the verdict.
        if answers.parts.last().is_some_and(Part::is_bad) {
            break;
        }
    }
    Ok(())
}

impl BurnInAnswers {
    fn of(limits: Limits, load: Load) -> Self {
        let (purge, parts, health, incidents) = (None, Vec::new(), Vec::new(), Incidents::default());
        Self { limits, load, purge, parts, health, incidents }
    }
}
