//! Host idle recovery (PTS-E 1.1 and PTS 2.0 clause 11): how a drive that is steady under random writes uses idle time.
//! Bursts of writes alternate with idle times of increasing length; after each length, continuous writes return the
//! drive to its baseline.

mod pages;

use record::{Purged, Until, Workload};
use stdx::units::KIB;

use crate::modified::Incidents;
use crate::precondition::{Precondition, ROUND_MINUTES};
use crate::profile::Cell;
use crate::timeline::{Sample, course};
use crate::{Bench, Context, Outcome, Stop, Test};

const STIMULUS: Cell = Cell { block_bytes: 4 * KIB as u32, read_percent: 0 };
/// Idle times as multiples of the burst length.
const WAIT_STATES: [u32; 5] = [1, 2, 3, 5, 10];
/// Number of bursts in a wait state.
const BURSTS: u32 = 360;
/// Access A: the burst.
const BURST_SECONDS: u32 = 5;
/// Access C: the return to the baseline, with as many samples as there are bursts.
const RETURN_MINUTES: u32 = 30;
const RETURN_SAMPLES: usize = 360;

/// The HIR test.
pub const TEST: Test = Test {
    name: "hir",
    family: "hir",
    title: "Host Idle Recovery",
    about: "performance that 5 to 50 s of idle time between bursts of random writes restore",
    run,
    cells_per_round: ROUND_MINUTES,
    timeline: true,
    fixed_rounds: None,
};

/// All answers received by the test, whether or not it completed.
struct Seen {
    purge: Option<Purged>,
    precondition: Precondition,
    states: Vec<State>,
    incidents: Incidents,
}

/// One wait state; sample times are in minutes since the preconditioning.
struct State {
    wait: u32,
    bursts: Vec<Sample>,
    baseline: Vec<Sample>,
}

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut seen = Seen {
        purge: None,
        // Tracks the last minute of each round.
        precondition: Precondition::tracking(ROUND_MINUTES, STIMULUS.name()),
        states: Vec::new(),
        incidents: Incidents::default(),
    };
    let stop = measure(context, bench, &mut seen).err();
    pages::outcome(context, &seen, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, seen: &mut Seen) -> Result<(), Stop> {
    seen.purge = Some(bench.purge()?);
    let minute = |round, step| workload(context, round, step, context.minutes_ns(1));
    seen.precondition.run(context, bench, &mut seen.incidents, minute)?;
    // Each step of the timeline has distinct offsets, numbered after those of the rounds.
    let mut place = 0;
    let mut next = |length_ns| {
        place += 1;
        workload(context, u32::MAX, place, length_ns)
    };
    let mut minute = 0.0;
    let burst_minutes = f64::from(BURST_SECONDS) / 60.0;
    for wait in WAIT_STATES {
        seen.states.push(State { wait, bursts: Vec::new(), baseline: Vec::new() });
        for _ in 0..BURSTS {
            let burst = bench.run(&next(context.seconds_ns(BURST_SECONDS)))?;
            minute += burst_minutes;
            seen.incidents.see(&burst);
            seen.state().bursts.push(Sample::of(minute, &burst));
            bench.idle(context.seconds_ns(wait * BURST_SECONDS))?;
            minute += f64::from(wait) * burst_minutes;
        }
        let baseline = bench.run(&next(context.minutes_ns(RETURN_MINUTES)))?;
        seen.incidents.see(&baseline);
        seen.state().baseline = course(&baseline, minute, f64::from(RETURN_MINUTES), RETURN_SAMPLES);
        minute += f64::from(RETURN_MINUTES);
    }
    Ok(())
}

impl Seen {
    fn state(&mut self) -> &mut State {
        self.states.last_mut().expect("a wait state was begun")
    }
}

fn workload(context: &Context<'_>, round: u32, step: u32, length_ns: u64) -> Workload {
    Workload {
        range: context.whole_test_range(),
        until: Until::DurationNs(length_ns),
        ..context.cell(round, step, STIMULUS.read_percent, STIMULUS.block_bytes)
    }
}
