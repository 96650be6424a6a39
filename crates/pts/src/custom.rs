//! A custom test: preconditioning and rounds of cells that a plan defines, executed like a PTS test.

mod answers;
mod figures;
mod knee;
mod means;
mod pages;

use record::{CustomCell, CustomRounds, CustomTest, CustomWrite, Note, Regime, Until, Workload};

use crate::conclusions::modified;
use crate::flows::rounds::Verdict;
use crate::method::profile::Cell;
use crate::{Bench, Context, Outcome, Stop, Unit};
use answers::CustomAnswers;
use figures::demand;

/// Returns the unit of the tracking variables.
pub(crate) fn tracked_unit(test: &CustomTest) -> Unit {
    figures::unit(test.figure)
}

/// Runs `test` until it completes or the bench stops it.
pub(crate) fn run(test: &CustomTest, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers = CustomAnswers::of(test, context);
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(context, &answers, stop)
}

fn measure(
    context: &Context<'_>,
    bench: &mut dyn Bench,
    answers: &mut CustomAnswers<'_>,
) -> Result<(), Stop> {
    answers.check()?;
    for bytes in &answers.skipped {
        bench.note(modified::skip_note(*bytes, context.target))?;
    }
    if answers.test.purge {
        answers.purge = Some(bench.purge()?);
    }
    for (step, write) in (0..).zip(&answers.test.precondition) {
        answers.precondition.push(bench.write(&preconditioning(context, step, write))?);
    }
    for round in 1.. {
        bench.note(Note::RoundStarted { round, cells: answers.cells.len() as u32 })?;
        let mut segments = Vec::with_capacity(answers.cells.len());
        for (step, cell) in (0..).zip(&answers.cells) {
            segments.push(bench.run(&workload(answers.test, context, round, step, cell))?);
        }
        let verdict = answers.finish(context, bench, round, segments)?;
        let over = match answers.test.rounds {
            CustomRounds::Fixed(rounds) => round >= rounds,
            CustomRounds::UntilSteady => verdict != Verdict::Continue,
        };
        if over {
            break;
        }
    }
    bench.note(Note::RoundsEnded)
}

fn preconditioning(context: &Context<'_>, step: u32, write: &CustomWrite) -> Workload {
    let block = u64::from(write.block_bytes);
    let amount = context.target.capacity_bytes.saturating_mul(u64::from(write.capacities));
    let limit_ns = write.limit_ns.map(|ns| context.scaled_ns(ns));
    Workload {
        access: write.access,
        threads: write.threads,
        queue_depth: write.queue_depth.unwrap_or(context.settings.queue_depth),
        until: Until::AmountBytes(amount - amount % block),
        seed: context.seed(0, step),
        regime: Regime { limit_ns, ..Regime::default() },
        ..context.precondition_at(context.demand(None), write.block_bytes)
    }
}

fn workload(test: &CustomTest, context: &Context<'_>, round: u32, step: u32, cell: &CustomCell) -> Workload {
    let load = Cell { block_bytes: cell.block_bytes, read_percent: cell.read_percent };
    let workload = Workload {
        access: cell.access,
        until: Until::DurationNs(context.scaled_ns(cell.run_ns)),
        regime: Regime { ramp_ns: context.scaled_ns(cell.ramp_ns), ..Regime::default() },
        ..context.cell_at(demand(context, cell), round, step, load)
    };
    if test.streams.is_empty() { workload } else { workload.of_kinds(test.streams.clone()) }
}
