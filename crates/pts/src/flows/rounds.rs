//! The loop of a round-based test: rounds over its cells until the tracking variables are steady.

use record::{Note, Segment, Workload};

use crate::conclusions::judged_loop::JudgedLoop;
use crate::conclusions::modified;
use crate::method::explain::{explain, remarks};
use crate::method::history::{History, Tracked};
use crate::method::profile::Cell;
use crate::method::steady::WINDOW_ROUNDS;
use crate::{Bench, Context, Outcome, Stop};

/// Returns the index of the last segment in a round that follows an interruption; None if there is none.
#[must_use]
pub fn gap_at(segments: &[Segment]) -> Option<usize> {
    segments.iter().rposition(|segment| segment.gap_before.is_some())
}

/// Result of evaluating a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Another round is needed.
    Continue,
    /// The last five rounds are steady.
    Steady,
    /// No more rounds are allowed.
    Exhausted,
}

/// Evaluates a completed round under the gap rule: no window spans an interruption. `gap` is the index of the step
/// that followed the interruption.
pub(crate) fn judge(
    context: &Context<'_>,
    bench: &mut dyn Bench,
    history: &mut History,
    number: u32,
    gap: Option<usize>,
    tracked: Vec<Tracked>,
) -> Result<Verdict, Stop> {
    if let Some(step) = gap {
        // A round that starts immediately after the gap is valid, but a round that contains the gap is not.
        let first_round = if step == 0 { number } else { number + 1 };
        history.restart();
        bench.note(Note::WindowRestarted { first_round })?;
        if step > 0 {
            return Ok(Verdict::Continue);
        }
    }
    history.limit(context.settings.max_rounds);
    let judgement = history.judge(number, tracked);
    let steady = judgement.steady;
    bench.note(Note::Judged(judgement))?;
    Ok(match steady {
        true => Verdict::Steady,
        false if history.len() >= context.settings.max_rounds => Verdict::Exhausted,
        false => Verdict::Continue,
    })
}

/// One completed round: one segment per cell, in loop order.
#[derive(Debug)]
pub(crate) struct Round {
    pub number: u32,
    pub segments: Vec<Segment>,
}

/// A test loop's completed rounds, with their steady-state evaluations.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub done: Vec<Round>,
    pub history: History,
    pub converged: bool,
}

impl Rounds {
    pub fn of(variables: Vec<String>) -> Self {
        Self { done: Vec::new(), history: History::of(variables), converged: false }
    }

    /// Adds a completed round and returns whether the loop has ended.
    fn finish(
        &mut self,
        context: &Context<'_>,
        bench: &mut dyn Bench,
        segments: Vec<Segment>,
        tracked: Vec<Tracked>,
    ) -> Result<bool, Stop> {
        let number = self.done.len() as u32 + 1;
        let gap = gap_at(&segments);
        self.done.push(Round { number, segments });
        let verdict = judge(context, bench, &mut self.history, number, gap, tracked)?;
        self.converged = verdict == Verdict::Steady;
        Ok(verdict != Verdict::Continue)
    }

    /// Runs rounds over `cells` in order, until the values that `track` extracts are steady or the round limit is
    /// reached. `workload` creates each cell from the completed rounds, the round number, the step and the cell.
    pub fn repeat<C: Copy>(
        &mut self,
        context: &Context<'_>,
        bench: &mut dyn Bench,
        cells: &[C],
        workload: impl Fn(&[Round], u32, u32, C) -> Workload,
        track: impl Fn(&[Segment]) -> Vec<Tracked>,
    ) -> Result<(), Stop> {
        for round in 1.. {
            bench.note(Note::RoundStarted { round, cells: cells.len() as u32 })?;
            let mut segments = Vec::with_capacity(cells.len());
            for (step, cell) in (0..).zip(cells) {
                segments.push(bench.run(&workload(&self.done, round, step, *cell))?);
            }
            let tracked = track(&segments);
            if self.finish(context, bench, segments, tracked)? {
                break;
            }
        }
        bench.note(Note::RoundsEnded)
    }

    /// Adds rounds, steady state, deviations and notes to `outcome`.
    pub fn conclude(
        &self,
        outcome: Outcome,
        precondition: Option<&Segment>,
        epilogue: Option<&Segment>,
    ) -> Outcome {
        let complete = outcome.stop.is_none();
        let (mut modified, mut notes) = (outcome.modified, outcome.notes);
        let cells = self.done.iter().flat_map(|round| &round.segments);
        modified::by_segments(precondition.into_iter().chain(cells).chain(epilogue), &mut modified);
        notes.extend(self.notes(complete));
        Outcome {
            header: outcome.header.judged(self.converged, complete, self.history.window().first()),
            rounds: self.last(),
            converged: (complete || self.converged).then_some(self.converged),
            window: self.history.named_window(),
            loops: vec![JudgedLoop {
                name: "",
                rounds: self.history.len(),
                converged: self.converged,
                window: self.history.window().into_iter().next(),
                only_step: None,
            }],
            explained: explain(&self.history),
            modified,
            notes,
            ..outcome
        }
    }

    /// Returns the result rounds: the five rounds of the window or, if it is not full, its rounds so far.
    pub fn results(&self) -> &[Round] {
        let taken = (self.history.len() as usize).clamp(1, WINDOW_ROUNDS);
        &self.done[self.done.len().saturating_sub(taken)..]
    }

    /// Returns the mean over the result rounds; None if the value is missing in a round.
    pub fn mean(&self, value: impl Fn(&[Segment]) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> = self.results().iter().map(|round| value(&round.segments)).collect();
        values.filter(|v| !v.is_empty()).map(|v| v.iter().sum::<f64>() / v.len() as f64)
    }

    /// Returns whether `cell` was host-limited in any result round.
    pub fn is_host_limited(&self, cell: Cell) -> bool {
        self.results().iter().filter_map(|round| find(&round.segments, cell)).any(Segment::is_host_limited)
    }

    /// Returns each round's value, for plotting.
    pub fn points(&self, value: impl Fn(&[Segment]) -> Option<f64>) -> Vec<(f64, f64)> {
        let point = |round: &Round| Some((f64::from(round.number), value(&round.segments)?));
        self.done.iter().filter_map(point).collect()
    }

    /// Returns the numbers of the result rounds, such as `5-9`.
    pub fn names(&self) -> String {
        match self.results() {
            [] => "none".into(),
            [only] => only.number.to_string(),
            [first, .., last] => format!("{}-{}", first.number, last.number),
        }
    }

    /// Names the averaged rounds; None if there are none.
    pub fn mean_remark(&self) -> Option<String> {
        let kind = if self.results().len() == 1 { "Round" } else { "Mean of rounds" };
        (!self.results().is_empty()).then(|| format!("{kind} {}.", self.names()))
    }

    /// Number of the last completed round.
    fn last(&self) -> u32 {
        self.done.len() as u32
    }

    /// Returns notes about the results.
    fn notes(&self, complete: bool) -> Vec<String> {
        match (complete, self.converged) {
            (true, true) => Vec::new(),
            (true, false) => {
                let mut notes = vec![format!(
                    "SS NOT ACHIEVED: no steady state in {} rounds; results are the mean of rounds {}",
                    self.history.len(),
                    self.names()
                )];
                notes.extend(remarks(&self.history));
                notes
            }
            (false, _) if self.done.is_empty() => {
                vec!["NOT COMPLETE: no round is complete, so there are no figures yet".into()]
            }
            (false, _) => {
                vec![format!("NOT COMPLETE: figures are the mean of the completed rounds {}", self.names())]
            }
        }
    }
}

/// Finds the segment for `cell` in a round of random cells.
pub(crate) fn find(segments: &[Segment], cell: Cell) -> Option<&Segment> {
    segments
        .iter()
        .find(|s| s.workload.block_bytes == cell.block_bytes && s.workload.read_percent == cell.read_percent)
}
