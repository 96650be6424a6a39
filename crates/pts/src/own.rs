//! A custom test: preconditioning and rounds over cells as defined in a plan, run like the PTS tests.

mod figures;
mod knee;
mod pages;

use record::{Note, OwnCell, OwnRounds, OwnTest, OwnWrite, Purged, Regime, Segment, Until, Workload};

use crate::profile::{Cell, Demand};
use crate::rounds::{History, Tracked, Verdict, gap_at, judge};
use crate::steady::Steadiness;
use crate::{Bench, Context, Outcome, Stop, modified};

/// All answers received by the test, whether or not it completed.
struct Seen<'a> {
    test: &'a OwnTest,
    purge: Option<Purged>,
    precondition: Vec<Segment>,
    skipped: Vec<u32>,
    /// The cells of a round that the device supports, in order of execution.
    cells: Vec<OwnCell>,
    /// Indices of the tracking variables in `cells`.
    tracked: Vec<usize>,
    rounds: Vec<Vec<Segment>>,
    history: History,
    /// The first steady window.
    steady: Option<Vec<(String, Steadiness)>>,
}

/// Runs `test` until it completes or the bench stops it.
pub(crate) fn run(test: &OwnTest, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut seen = Seen::of(test, context);
    let stop = measure(context, bench, &mut seen).err();
    pages::outcome(context, &seen, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, seen: &mut Seen<'_>) -> Result<(), Stop> {
    seen.check()?;
    for bytes in &seen.skipped {
        bench.note(modified::skip_note(*bytes, context.target))?;
    }
    if seen.test.purge {
        seen.purge = Some(bench.purge()?);
    }
    for (step, write) in (0..).zip(&seen.test.precondition) {
        seen.precondition.push(bench.write(&preconditioning(context, step, write))?);
    }
    for round in 1.. {
        bench.note(Note::RoundStarted { round, cells: seen.cells.len() as u32 })?;
        let mut segments = Vec::with_capacity(seen.cells.len());
        for (step, cell) in (0..).zip(&seen.cells) {
            segments.push(bench.run(&workload(context, round, step, cell))?);
        }
        let verdict = seen.finish(context, bench, round, segments)?;
        let over = match seen.test.rounds {
            OwnRounds::Fixed(rounds) => round >= rounds,
            OwnRounds::UntilSteady => verdict != Verdict::GoOn,
        };
        if over {
            break;
        }
    }
    bench.note(Note::RoundsEnded)
}

fn preconditioning(context: &Context<'_>, step: u32, write: &OwnWrite) -> Workload {
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
        ..context.precondition_by(write.block_bytes)
    }
}

fn workload(context: &Context<'_>, round: u32, step: u32, cell: &OwnCell) -> Workload {
    let load = Cell { block_bytes: cell.block_bytes, read_percent: cell.read_percent };
    Workload {
        access: cell.access,
        until: Until::DurationNs(context.scaled_ns(cell.run_ns)),
        regime: Regime { ramp_ns: context.scaled_ns(cell.ramp_ns), ..Regime::default() },
        ..context.cell_at(demand(context, cell), round, step, load)
    }
}

/// Demand of a cell; the settings provide what the plan does not specify.
fn demand(context: &Context<'_>, cell: &OwnCell) -> Demand {
    Demand {
        threads: cell.threads.unwrap_or(context.settings.threads),
        queue_depth: cell.queue_depth.unwrap_or(context.settings.queue_depth),
    }
}

impl<'a> Seen<'a> {
    fn of(test: &'a OwnTest, context: &Context<'_>) -> Self {
        let mut blocks: Vec<u32> = Vec::new();
        for cell in &test.cells {
            if !blocks.contains(&cell.block_bytes) {
                blocks.push(cell.block_bytes);
            }
        }
        let skipped = context.impossible(&blocks);
        let possible = |cell: &OwnCell| !skipped.contains(&cell.block_bytes);
        let cells: Vec<OwnCell> = test.cells.iter().copied().filter(possible).collect();
        let position = |index: &u32| {
            let index = *index as usize;
            let before = test.cells.get(..index)?.iter().filter(|cell| possible(cell)).count();
            test.cells.get(index).filter(|cell| possible(cell)).map(|_| before)
        };
        let tracked: Vec<usize> = test.tracked.iter().filter_map(position).collect();
        let names = tracked.iter().map(|place| figures::name(context, &cells[*place])).collect();
        Self {
            test,
            purge: None,
            precondition: Vec::new(),
            skipped,
            cells,
            tracked,
            rounds: Vec::new(),
            history: History::of(names),
            steady: None,
        }
    }

    fn check(&self) -> Result<(), Stop> {
        let name = &self.test.name;
        if self.cells.is_empty() {
            return Err(Stop::Failed(format!(
                "{name}: the device's sectors are larger than all its block sizes; use larger ones"
            )));
        }
        if self.tracked.is_empty() && self.test.rounds == OwnRounds::UntilSteady {
            return Err(Stop::Failed(format!(
                "{name}: the device's sectors are larger than the blocks of its tracking variable; track a \
                 cell with larger ones"
            )));
        }
        Ok(())
    }

    /// Adds a completed round and judges it if there are tracking variables.
    fn finish(
        &mut self,
        context: &Context<'_>,
        bench: &mut dyn Bench,
        round: u32,
        segments: Vec<Segment>,
    ) -> Result<Verdict, Stop> {
        let gap = gap_at(&segments);
        let tracked: Vec<Tracked> = self
            .tracked
            .iter()
            .filter_map(|place| segments.get(*place))
            .map(|segment| Tracked::of(Some(segment), |segment| figures::value(self.test.figure, segment)))
            .collect();
        self.rounds.push(segments);
        if tracked.is_empty() {
            return Ok(Verdict::GoOn);
        }
        let verdict = judge(context, bench, &mut self.history, round, gap, tracked)?;
        if verdict == Verdict::Steady && self.steady.is_none() {
            self.steady = Some(self.history.named_window());
        }
        Ok(verdict)
    }

    /// Half-open range of the rounds to average, counted from 0: starting at the first steady window, or the last ones.
    fn results(&self) -> std::ops::Range<usize> {
        let (done, wanted) = (self.rounds.len(), self.test.average.rounds as usize);
        let entered =
            self.steady.as_ref().and_then(|window| Some(window.first()?.1.first_round as usize - 1));
        match entered.filter(|_| self.test.average.from_steady) {
            Some(first) => first..(first + wanted).min(done),
            None => done.saturating_sub(wanted)..done,
        }
    }

    /// Number range of the averaged rounds: `5-8`.
    fn result_names(&self) -> String {
        let results = self.results();
        match results.len() {
            0 => "none".into(),
            1 => results.end.to_string(),
            _ => format!("{}-{}", results.start + 1, results.end),
        }
    }
}
