//! Demand variation: IOPS and response times as the number of threads and outstanding I/Os varies. Shared flow of ECW,
//! CBW (clause 13) and DIRTH (clause 14 of PTS-E 1.1 and PTS 2.0).

mod pages;
mod points;

use record::{Note, Purged, Segment, Until, Workload};

use crate::composite::Composite;
use crate::modified::Incidents;
use crate::precondition::Precondition;
use crate::profile::{Cell, Demand, mix_name};
use crate::rounds::{History, Tracked, Verdict, judge};
use crate::timeline::{Sample, course};
use crate::{Bench, Context, Outcome, Stop, Test};
use points::{Chosen, Point};

/// Thread counts (outer loop) and queue depths (inner loop), from high to low demand.
const STEPS: [u16; 7] = [32, 16, 8, 6, 4, 2, 1];
/// Cells per round of demand variation.
pub(crate) const CELLS: u32 = (STEPS.len() * STEPS.len()) as u32;
/// Demand of preconditioning, of the writes between rounds, and of the tracking variable.
const HIGHEST: Demand = Demand { threads: 32, queue_depth: 32 };
const BETWEEN_MINUTES: u32 = 5;
const BEFORE_HISTOGRAM_MINUTES: u32 = 60;
const HISTOGRAM_MINUTES: u32 = 10;
/// Round numbers from which each phase of the test counts, so that their seeds differ.
const VARIATION_ROUNDS: u32 = 1_000;
const HISTOGRAM_ROUNDS: u32 = 2_000;

/// The workload whose demand is varied.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub test: &'static Test,
    pub stimulus: Stimulus,
    /// Percentage of reads; preconditioning only writes.
    pub read_percent: u8,
}

/// Sizes and offsets of the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stimulus {
    /// Fixed block size in bytes, at any offset.
    Block(u32),
    /// The composite of ECW and CBW.
    Composite,
}

/// All answers received by the test, whether or not it completed.
struct Seen {
    pattern: &'static Pattern,
    purge: Option<Purged>,
    /// Part A: writes at the highest demand until they are steady.
    precondition: Precondition,
    /// The writes before each round, by minute.
    between: Vec<Sample>,
    /// The cells of each round, in loop order.
    rounds: Vec<Vec<Point>>,
    history: History,
    converged: bool,
    chosen: Option<Chosen>,
    histograms: Vec<Drawn>,
    incidents: Incidents,
}

/// The histogram run of one of the chosen points.
struct Drawn {
    pre_writes: Vec<Sample>,
    segment: Option<Segment>,
}

pub(crate) fn run(pattern: &'static Pattern, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut seen = Seen {
        pattern,
        purge: None,
        // Tracks the first minute of each round.
        precondition: Precondition::tracking(1, "Pre Conditioning TC32-QD32".into()),
        between: Vec::new(),
        rounds: Vec::new(),
        history: History::of(vec!["DV TC32-QD32".into()]),
        converged: false,
        chosen: None,
        histograms: Vec::new(),
        incidents: Incidents::default(),
    };
    let stop = measure(context, bench, &mut seen).err();
    pages::outcome(context, &seen, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, seen: &mut Seen) -> Result<(), Stop> {
    seen.pattern.check(context)?;
    seen.purge = Some(bench.purge()?);
    let minute = |round, step| seen.pattern.writes(context, HIGHEST, (round, step), 1);
    seen.precondition.run(context, bench, &mut seen.incidents, minute)?;
    vary(context, bench, seen)?;
    seen.chosen = Chosen::of(&seen.means());
    let Some(chosen) = seen.chosen else { return Ok(()) };
    for (index, demand) in chosen.demands().into_iter().enumerate() {
        let round = HISTOGRAM_ROUNDS + index as u32;
        let writes =
            bench.write(&seen.pattern.writes(context, demand, (round, 0), BEFORE_HISTOGRAM_MINUTES))?;
        seen.incidents.see(&writes);
        let minutes = BEFORE_HISTOGRAM_MINUTES;
        let pre_writes = course(&writes, 0.0, f64::from(minutes), minutes as usize);
        seen.histograms.push(Drawn { pre_writes, segment: None });
        let segment = bench.run(&seen.pattern.load(context, demand, (round, 1), HISTOGRAM_MINUTES))?;
        seen.incidents.see(&segment);
        seen.histograms[index].segment = Some(segment);
    }
    Ok(())
}

/// Part B: rounds over all demands, from high to low, until the highest demand is steady.
fn vary(context: &Context<'_>, bench: &mut dyn Bench, seen: &mut Seen) -> Result<(), Stop> {
    for round in 1.. {
        bench.note(Note::RoundStarted { round, cells: CELLS })?;
        let seeds = VARIATION_ROUNDS + round;
        let writes = bench.write(&seen.pattern.writes(context, HIGHEST, (seeds, CELLS), BETWEEN_MINUTES))?;
        seen.incidents.see(&writes);
        // A gap before the writes leaves the round whole; a later gap interrupts it.
        let mut gap = writes.gap_before.map(|_| 0);
        let start = f64::from((round - 1) * (BETWEEN_MINUTES + CELLS));
        seen.between.extend(course(&writes, start, f64::from(BETWEEN_MINUTES), BETWEEN_MINUTES as usize));
        let mut cells = Vec::with_capacity(CELLS as usize);
        for (step, demand) in (0..).zip(demands()) {
            let segment = bench.run(&seen.pattern.load(context, demand, (seeds, step), 1))?;
            gap = segment.gap_before.map(|_| step as usize + 1).or(gap);
            seen.incidents.see(&segment);
            cells.push(Point::of(demand, &segment));
        }
        let tracked = Tracked { value: cells[0].iops, host_limited: cells[0].host_limited };
        seen.rounds.push(cells);
        let verdict = judge(context, bench, &mut seen.history, round, gap, vec![tracked])?;
        seen.converged = verdict == Verdict::Steady;
        if verdict != Verdict::GoOn {
            break;
        }
    }
    bench.note(Note::RoundsEnded)
}

/// The demands of a round, in loop order.
fn demands() -> impl Iterator<Item = Demand> {
    STEPS.into_iter().flat_map(|threads| STEPS.map(|queue_depth| Demand { threads, queue_depth }))
}

impl Pattern {
    /// The pattern for `minutes`; `place` is the round and the step in it.
    fn load(&self, context: &Context<'_>, demand: Demand, place: (u32, u32), minutes: u32) -> Workload {
        self.mixed(context, demand, place, minutes, self.read_percent)
    }

    /// The pattern with writes only.
    fn writes(&self, context: &Context<'_>, demand: Demand, place: (u32, u32), minutes: u32) -> Workload {
        self.mixed(context, demand, place, minutes, 0)
    }

    fn mixed(
        &self,
        context: &Context<'_>,
        demand: Demand,
        (round, step): (u32, u32),
        minutes: u32,
        read_percent: u8,
    ) -> Workload {
        let of = |block_bytes| Workload {
            range: context.whole_test_range(),
            until: Until::DurationNs(context.minutes_ns(minutes)),
            ..context.cell_at(demand, round, step, Cell { block_bytes, read_percent })
        };
        match self.stimulus {
            Stimulus::Block(block_bytes) => of(block_bytes),
            Stimulus::Composite => Composite::of(context).apply(of(0)),
        }
    }

    fn check(&self, context: &Context<'_>) -> Result<(), Stop> {
        match self.stimulus {
            Stimulus::Block(_) => Ok(()),
            Stimulus::Composite => Composite::of(context).check(context),
        }
    }

    /// Name on pages, with the given percentage of reads: `RND 8KiB W`, `CBW 40/60`.
    fn name(&self, read_percent: u8) -> String {
        match self.stimulus {
            Stimulus::Block(block_bytes) => Cell { block_bytes, read_percent }.name(),
            Stimulus::Composite => format!("{} {}", self.test.title, mix_name(read_percent)),
        }
    }
}

impl Seen {
    /// The rounds that results are computed from: the five of the window, or the latest ones available.
    fn results(&self) -> &[Vec<Point>] {
        let taken = (self.history.len() as usize).clamp(1, crate::steady::WINDOW_ROUNDS);
        &self.rounds[self.rounds.len().saturating_sub(taken)..]
    }

    /// Mean of each cell over the result rounds, in loop order; empty before the first completed round.
    fn means(&self) -> Vec<Point> {
        points::means(self.results())
    }
}
