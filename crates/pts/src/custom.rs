//! A custom test: preconditioning and rounds of cells that a plan defines, executed like a PTS test.

mod answers;
mod figures;
mod knee;
mod means;
mod pages;
mod replayed;

use record::{CustomCell, CustomRounds, CustomTest, CustomWrite, IoKind, Note, Regime, Until, Workload};

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
    if !answers.test.steps.is_empty() {
        return replay(context, bench, answers);
    }
    for round in 1.. {
        bench.note(Note::RoundStarted { round, cells: answers.cells.len() as u32 })?;
        let mut segments = Vec::with_capacity(answers.cells.len());
        for (step, cell) in (0..).zip(&answers.cells) {
            segments.push(bench.run(&workload(&answers.test.streams, context, round, step, cell))?);
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

/// Runs each step of a trace, followed by its idle time.
fn replay(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut CustomAnswers<'_>) -> Result<(), Stop> {
    let test = answers.test;
    bench.note(Note::RoundStarted { round: 1, cells: answers.cells.len() as u32 })?;
    answers.rounds.push(Vec::new());
    let mut cells = (0..).zip(&test.cells);
    for step in &test.steps {
        if !step.streams.is_empty()
            && let Some((place, cell)) = cells.next()
        {
            let segment = bench.run(&workload(&step.streams, context, 1, place, cell))?;
            answers.rounds[0].push(segment);
        }
        match context.scaled_ns(step.idle_ns) {
            0 => {}
            idle_ns => bench.idle(idle_ns)?,
        }
        answers.replayed += 1;
    }
    bench.note(Note::RoundsEnded)
}

fn workload(streams: &[IoKind], context: &Context<'_>, round: u32, step: u32, cell: &CustomCell) -> Workload {
    let load = Cell { block_bytes: cell.block_bytes, read_percent: cell.read_percent };
    let workload = Workload {
        access: cell.access,
        until: Until::DurationNs(context.scaled_ns(cell.run_ns).max(1)),
        regime: Regime { ramp_ns: context.scaled_ns(cell.ramp_ns), ..Regime::default() },
        ..context.cell_at(demand(context, cell), round, step, load)
    };
    if streams.is_empty() { workload } else { workload.of_kinds(streams.to_vec()) }
}
