//! Write saturation (PTS 1.0 clause 7; PTS-E 1.1 and PTS 2.0 clause 10): random 4 KiB writes to a fresh drive, minute
//! by minute, until the required amount is written, the time limit is reached, or (1.1 and later) the drive is steady.
//! Steady state tracks the minute after every 30 minutes. PTS 2.0 then records every response time for 20 minutes.

mod figures;
mod pages;

use record::{Note, Purged, Segment, Until, Workload};
use stdx::units::KIB;

use crate::modified::Incidents;
use crate::profile::{Cell, Edition};
use crate::response::{FIVE_NINES, merged};
use crate::rounds::{History, Verdict, judge};
use crate::timeline::Sample;
use crate::{Bench, Context, Outcome, Stop, Test};

/// The write workload.
const STIMULUS: Cell = Cell { block_bytes: 4 * KIB as u32, read_percent: 0 };
/// Minutes from one steady-state sample to the next: 30, plus the tracked one.
const CYCLE_MINUTES: u32 = 31;
/// Length of the histogram run.
const HISTOGRAM_MINUTES: u32 = 20;

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

/// All answers received by the test, whether or not it completed.
struct Seen {
    purge: Option<Purged>,
    minutes: Vec<Sample>,
    /// The 99.999 % response time of each minute; None if there are too few I/Os.
    five_nines_ms: Vec<Option<f64>>,
    written_bytes: u64,
    history: History,
    cycles: u32,
    converged: bool,
    end: Option<End>,
    histogram: Option<Segment>,
    incidents: Incidents,
}

/// The condition that ended the saturation.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Written,
    Time,
    Steady,
}

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut seen = Seen {
        purge: None,
        minutes: Vec::new(),
        five_nines_ms: Vec::new(),
        written_bytes: 0,
        history: History::of(vec![STIMULUS.name()]),
        cycles: 0,
        converged: false,
        end: None,
        histogram: None,
        incidents: Incidents::default(),
    };
    let stop = measure(context, bench, &mut seen).err();
    pages::outcome(context, &seen, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, seen: &mut Seen) -> Result<(), Stop> {
    let limits = context.profile.saturation_end;
    let enough_bytes = context.target.capacity_bytes.saturating_mul(u64::from(limits.capacities));
    seen.purge = Some(bench.purge()?);
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
        let sample = seen.take(minute, &segment);
        if limits.when_steady && minute.is_multiple_of(CYCLE_MINUTES) {
            seen.cycles = cycle;
            let verdict = judge(context, bench, &mut seen.history, cycle, gap, vec![sample.tracked()])?;
            seen.converged = verdict == Verdict::Steady;
        }
        seen.end = if seen.converged {
            Some(End::Steady)
        } else if seen.written_bytes >= enough_bytes {
            Some(End::Written)
        } else {
            (minute >= limits.minutes).then_some(End::Time)
        };
        if seen.end.is_some() {
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
        seen.incidents.see(&segment);
        seen.histogram = Some(segment);
    }
    Ok(())
}

impl Seen {
    fn take(&mut self, minute: u32, segment: &Segment) -> Sample {
        let sample = Sample::of(f64::from(minute), segment);
        self.incidents.see(segment);
        self.written_bytes += sample.written_bytes;
        self.minutes.push(sample);
        self.five_nines_ms.push(FIVE_NINES.of(&merged([segment])));
        sample
    }
}

/// FOB and steady IOPS of a curve measured elsewhere, whose samples take `minutes` each.
pub(crate) fn saturation_figures(iops: &[f64], minutes: f64) -> (Option<f64>, Option<f64>) {
    // The figures are defined per minute, so shorter samples are averaged.
    let group = if minutes > 0.0 { (1.0 / minutes).round().max(1.0) as usize } else { 1 };
    let by_minute: Vec<f64> =
        iops.chunks(group).map(|some| some.iter().sum::<f64>() / some.len() as f64).collect();
    let figures = figures::Figures::of(&by_minute, None);
    (figures.fresh, figures.steady)
}

fn has_histogram(context: &Context<'_>) -> bool {
    context.profile.edition >= Edition::V2_0
}

fn workload(context: &Context<'_>, cycle: u32, step: u32) -> Workload {
    Workload {
        range: context.whole_test_range(),
        ..context.cell(cycle, step, STIMULUS.read_percent, STIMULUS.block_bytes)
    }
}
