//! Write saturation (PTS 1.0 clause 7; PTS-E 1.1 and PTS 2.0 clause 10): random 4 KiB writes to a fresh drive,
//! minute by minute, until the required amount is written, the time limit is reached, or (1.1 and later) the drive
//! is steady. The tester may choose a different length, and PTS 2.0 offers other workloads. Steady state tracks the
//! minute after every 30 minutes. PTS 2.0 then records every response time for 20 minutes.

mod answers;
mod figures;
mod length;
mod load;
mod marks;
mod pages;

use record::{Note, Until, Workload};

use crate::conclusions::incidents::Incidents;
use crate::flows::continued::requested_blocks;
use crate::flows::rounds::{Verdict, judge};
use crate::method::history::History;
use crate::method::profile::CELL_NS;
use crate::{Bench, Context, Outcome, Stop, Test, Unit};
use answers::{CYCLE_MINUTES, HISTOGRAM_MINUTES, SaturationAnswers, has_histogram};
use length::Length;
use load::Load;

pub(crate) use answers::not_judged;
pub(crate) use figures::{LAST_MINUTES, saturation_figures};

/// The WSAT test.
pub const TEST: Test = Test {
    name: "wsat",
    family: "wsat",
    title: "WSAT",
    subject: "WSAT",
    about: "write saturation: random 4 KiB writes from fresh out of the box, minute by minute",
    run,
    cells_per_round: CYCLE_MINUTES,
    round_name: "cycle",
    timeline: true,
    fixed_rounds: None,
    tracked_unit: Some(Unit::Iops),
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers = SaturationAnswers {
        purge: None,
        minutes: Vec::new(),
        five_nines_ms: Vec::new(),
        written_bytes: 0,
        elapsed_ns: 0,
        load: Load::of(context),
        cell: if context.settings.cell_ns == CELL_NS { "minute" } else { "cell" },
        history: History::of(vec![Load::of(context).name()]),
        cycles: 0,
        converged: false,
        end: None,
        required_end: None,
        untimed_end: None,
        extended: 0,
        histogram: None,
        incidents: Incidents::default(),
    };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(&TEST, context, &answers, stop)
}

fn measure(
    context: &Context<'_>,
    bench: &mut dyn Bench,
    answers: &mut SaturationAnswers,
) -> Result<(), Stop> {
    let length = Length::of(context);
    let (required, untimed) = (Length::required(context), Length::untimed(context));
    let load = answers.load;
    load.check(context)?;
    answers.purge = Some(bench.purge()?);
    // The step of the current cycle before which the run was interrupted.
    let mut gap = None;
    let mut from_block = 0;
    for minute in 1.. {
        let (cycle, step) = ((minute - 1) / CYCLE_MINUTES + 1, (minute - 1) % CYCLE_MINUTES);
        if step == 0 {
            bench.note(Note::RoundStarted { round: cycle, cells: CYCLE_MINUTES })?;
            gap = None;
        }
        let segment = bench.run(&load.workload(context, cycle, step, from_block))?;
        from_block += requested_blocks(&segment);
        gap = segment.gap_before.map(|_| step as usize).or(gap);
        let sample = answers.take(context, minute, &segment);
        if context.profile.saturation_end.when_steady && minute.is_multiple_of(CYCLE_MINUTES) {
            answers.cycles = cycle;
            let verdict = judge(context, bench, &mut answers.history, cycle, gap, vec![sample.tracked()])?;
            answers.converged = verdict == Verdict::Steady;
        }
        let end = |length: Length| length.end(minute, answers.written_bytes, answers.converged);
        answers.required_end = answers.required_end.or_else(|| Some((end(required)?, minute)));
        answers.untimed_end = answers.untimed_end.or_else(|| Some((end(untimed)?, minute)));
        answers.end = end(length);
        if answers.end.is_some() {
            break;
        }
    }
    bench.note(Note::RoundsEnded)?;
    if has_histogram(context) {
        let workload = Workload {
            until: Until::DurationNs(context.minutes_ns(HISTOGRAM_MINUTES)),
            ..load.workload(context, 0, 1, from_block)
        };
        let segment = bench.run(&workload)?;
        answers.incidents.see(&segment);
        answers.histogram = Some(segment);
    }
    Ok(())
}
