//! Zone tests for hard disks, following TKperf. The range is divided into 128 equal zones, each measured
//! separately, from the first (the outer edge of nearly every disk) to the last. Without a purge,
//! preconditioning or steady state, the result is never a PTS result.

mod answers;
mod pages;
mod sweep;

use record::Note;

use crate::conclusions::incidents::Incidents;
use crate::{Bench, Context, Outcome, Stop};
use answers::{Sample, ZoneAnswers};

pub(crate) use sweep::{Figure, Sweep, ZONES};

pub(crate) fn run(sweep: &'static Sweep, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers =
        ZoneAnswers { sweep, samples: Vec::new(), finished: 0, incidents: Incidents::default() };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut ZoneAnswers) -> Result<(), Stop> {
    let sweep = answers.sweep;
    sweep.check(context)?;
    for cells in sweep.passes {
        for zone in 0..ZONES {
            let round = answers.finished + 1;
            bench.note(Note::RoundStarted { round, cells: cells.len() as u32 })?;
            for (step, cell) in (0..).zip(*cells) {
                let segment = bench.run(&sweep.workload(context, (round, step), zone, *cell))?;
                answers.incidents.see(&segment);
                answers.samples.push(Sample::of(sweep.figure, zone, *cell, &segment));
            }
            answers.finished = round;
        }
    }
    bench.note(Note::RoundsEnded)
}
