//! Host idle recovery (PTS-E 1.1 and PTS 2.0 clause 11): how a drive that is steady under random writes uses idle
//! time. Bursts of writes alternate with idle times of increasing length; after each length, continuous writes
//! return the drive to its baseline.

mod answers;
mod pages;

use record::{Until, Workload};

use crate::conclusions::incidents::Incidents;
use crate::flows::precondition::{Precondition, ROUND_MINUTES};
use crate::method::timeline::{Sample, course};
use crate::{Bench, Context, Outcome, Stop, Test};
use answers::{BURST_SECONDS, RETURN_MINUTES, RecoveryAnswers, STIMULUS, State, WAIT_STATES};

/// Number of bursts in a wait state.
const BURSTS: u32 = 360;
/// Number of access C samples, one per burst.
const RETURN_SAMPLES: usize = 360;

/// The HIR test.
pub const TEST: Test = Test {
    name: "hir",
    family: "hir",
    title: "Host Idle Recovery",
    subject: "Host Idle Recovery",
    about: "performance that a drive recovers in 5 to 50 s of idle time between bursts of random writes",
    run,
    cells_per_round: ROUND_MINUTES,
    round_name: "preconditioning round",
    timeline: true,
    fixed_rounds: None,
    tracked_unit: None,
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers = RecoveryAnswers {
        purge: None,
        // Tracks the last minute of each round.
        precondition: Precondition::tracking(ROUND_MINUTES, STIMULUS.name()),
        states: Vec::new(),
        incidents: Incidents::default(),
    };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(&TEST, context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut RecoveryAnswers) -> Result<(), Stop> {
    answers.purge = Some(bench.purge()?);
    let minute = |round, step| workload(context, round, step, context.minutes_ns(1));
    answers.precondition.run(context, bench, &mut answers.incidents, minute)?;
    // Each step of the timeline has its own offsets, so step numbers continue those of the rounds.
    let mut place = 0;
    let mut next = |length_ns| {
        place += 1;
        workload(context, u32::MAX, place, length_ns)
    };
    let mut minute = 0.0;
    let burst_minutes = f64::from(BURST_SECONDS) / 60.0;
    for wait in WAIT_STATES {
        answers.states.push(State { wait, bursts: Vec::new(), baseline: Vec::new() });
        for _ in 0..BURSTS {
            let burst = bench.run(&next(context.seconds_ns(BURST_SECONDS)))?;
            minute += burst_minutes;
            answers.incidents.see(&burst);
            answers.state().bursts.push(Sample::of(minute, &burst));
            bench.idle(context.seconds_ns(wait * BURST_SECONDS))?;
            minute += f64::from(wait) * burst_minutes;
        }
        let baseline = bench.run(&next(context.minutes_ns(RETURN_MINUTES)))?;
        answers.incidents.see(&baseline);
        answers.state().baseline = course(&baseline, minute, f64::from(RETURN_MINUTES), RETURN_SAMPLES);
        minute += f64::from(RETURN_MINUTES);
    }
    Ok(())
}

fn workload(context: &Context<'_>, round: u32, step: u32, length_ns: u64) -> Workload {
    Workload {
        range: context.whole_test_range(),
        until: Until::DurationNs(length_ns),
        ..context.cell(round, step, STIMULUS.read_percent, STIMULUS.block_bytes)
    }
}
