//! The results that a custom test received, and the rounds from which its figures are computed.

use record::{CustomCell, CustomRounds, CustomTest, Purged, Segment};

use super::figures;
use crate::flows::rounds::{Verdict, gap_at, judge};
use crate::method::history::{History, Tracked};
use crate::method::steady::WindowStats;
use crate::{Bench, Context, Stop};

/// All results that the test received, whether or not it completed.
pub struct CustomAnswers<'a> {
    pub test: &'a CustomTest,
    pub purge: Option<Purged>,
    pub precondition: Vec<Segment>,
    pub skipped: Vec<u32>,
    /// The cells of a round that the device supports, in order of execution.
    pub cells: Vec<CustomCell>,
    /// Indices of the tracking variables in `cells`.
    pub tracked: Vec<usize>,
    pub rounds: Vec<Vec<Segment>>,
    /// Number of completed steps of a trace.
    pub replayed: usize,
    pub history: History,
    /// The first steady window.
    pub steady: Option<Vec<(String, WindowStats)>>,
}

impl<'a> CustomAnswers<'a> {
    pub fn of(test: &'a CustomTest, context: &Context<'_>) -> Self {
        let mut blocks: Vec<u32> = Vec::new();
        for cell in &test.cells {
            if !blocks.contains(&cell.block_bytes) {
                blocks.push(cell.block_bytes);
            }
        }
        // A step of a trace is never left out: a device that cannot run it is refused before the run.
        let skipped = if test.steps.is_empty() { context.impossible(&blocks) } else { Vec::new() };
        let possible = |cell: &CustomCell| !skipped.contains(&cell.block_bytes);
        let cells: Vec<CustomCell> = test.cells.iter().copied().filter(possible).collect();
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
            replayed: 0,
            history: History::of(names),
            steady: None,
        }
    }

    pub fn check(&self) -> Result<(), Stop> {
        let name = &self.test.name;
        if self.cells.is_empty() {
            return Err(Stop::Failed(format!(
                "{name}: the device's sectors are larger than all its block sizes; use larger block sizes"
            )));
        }
        if self.tracked.is_empty() && self.test.rounds == CustomRounds::UntilSteady {
            return Err(Stop::Failed(format!(
                "{name}: the device's sectors are larger than the blocks of its tracking variable; track a \
                 cell with larger blocks"
            )));
        }
        Ok(())
    }

    /// Adds a completed round and evaluates steady state if there are tracking variables.
    pub fn finish(
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
            return Ok(Verdict::Continue);
        }
        let verdict = judge(context, bench, &mut self.history, round, gap, tracked)?;
        if verdict == Verdict::Steady && self.steady.is_none() {
            self.steady = Some(self.history.named_window());
        }
        Ok(verdict)
    }

    /// Returns the indices of the rounds to average, which begin with the first steady window or are the last
    /// completed rounds.
    pub fn results(&self) -> std::ops::Range<usize> {
        let (done, averaged) = (self.rounds.len(), self.test.average.rounds as usize);
        let entered =
            self.steady.as_ref().and_then(|window| Some(window.first()?.1.first_round as usize - 1));
        match entered.filter(|_| self.test.average.from_steady) {
            Some(first) => first..(first + averaged).min(done),
            None => done.saturating_sub(averaged)..done,
        }
    }

    /// Returns the numbers of the averaged rounds, such as `5-8`.
    pub fn result_names(&self) -> String {
        let results = self.results();
        match results.len() {
            0 => "none".into(),
            1 => results.end.to_string(),
            _ => format!("{}-{}", results.start + 1, results.end),
        }
    }
}
