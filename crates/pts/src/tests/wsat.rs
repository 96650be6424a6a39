//! Write saturation (PTS 1.0 clause 7; PTS-E 1.1 and PTS 2.0 clause 10): random 4 KiB writes to a fresh drive, minute
//! by minute, until the required amount is written, the time limit is reached, or (1.1 and later) the drive is steady.
//! Steady state tracks the minute after every 30 minutes. PTS 2.0 then records every response time for 20 minutes.

mod answers;
mod figures;
mod pages;

use record::{Note, Until, Workload};

use crate::conclusions::incidents::Incidents;
use crate::flows::rounds::{Verdict, judge};
use crate::method::history::History;
use crate::{Bench, Context, Outcome, Stop, Test};
use answers::{CYCLE_MINUTES, End, HISTOGRAM_MINUTES, STIMULUS, SaturationAnswers, has_histogram};

pub(crate) use answers::NOT_JUDGED;
pub(crate) use figures::saturation_figures;

/// The WSAT test.
pub const TEST: Test = Test {
    name: "wsat",
    family: "wsat",
    title: "WSAT",
    about: "write saturation: random 4 KiB writes from fresh out of the box, minute by minute",
    run,
    cells_per_round: CYCLE_MINUTES,
    timeline: true,
    fixed_rounds: None,
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers = SaturationAnswers {
        purge: None,
        minutes: Vec::new(),
        five_nines_ms: Vec::new(),
        written_bytes: 0,
        elapsed_ns: 0,
        history: History::of(vec![STIMULUS.name()]),
        cycles: 0,
        converged: false,
        end: None,
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
    let limits = context.profile.saturation_end;
    let enough_bytes = context.target.capacity_bytes.saturating_mul(u64::from(limits.capacities));
    answers.purge = Some(bench.purge()?);
    // Step of the current cycle before which the run was interrupted.
    let mut gap = None;
    for minute in 1.. {
        let (cycle, step) = ((minute - 1) / CYCLE_MINUTES + 1, (minute - 1) % CYCLE_MINUTES);
        if step == 0 {
            bench.note(Note::RoundStarted { round: cycle, cells: CYCLE_MINUTES })?;
            gap = None;
        }
        let segment = bench.run(&workload(context, cycle, step))?;
        gap = segment.gap_before.map(|_| step as usize).or(gap);
        let sample = answers.take(minute, &segment);
        if limits.when_steady && minute.is_multiple_of(CYCLE_MINUTES) {
            answers.cycles = cycle;
            let verdict = judge(context, bench, &mut answers.history, cycle, gap, vec![sample.tracked()])?;
            answers.converged = verdict == Verdict::Steady;
        }
        answers.end = if answers.converged {
            Some(End::Steady)
        } else if answers.written_bytes >= enough_bytes {
            Some(End::Written)
        } else {
            (minute >= limits.minutes).then_some(End::Time)
        };
        if answers.end.is_some() {
            break;
        }
    }
    bench.note(Note::RoundsEnded)?;
    if has_histogram(context) {
        let workload = Workload {
            until: Until::DurationNs(context.minutes_ns(HISTOGRAM_MINUTES)),
            ..workload(context, 0, 1)
        };
        let segment = bench.run(&workload)?;
        answers.incidents.see(&segment);
        answers.histogram = Some(segment);
    }
    Ok(())
}

fn workload(context: &Context<'_>, cycle: u32, step: u32) -> Workload {
    Workload {
        range: context.whole_test_range(),
        ..context.cell(cycle, step, STIMULUS.read_percent, STIMULUS.block_bytes)
    }
}
