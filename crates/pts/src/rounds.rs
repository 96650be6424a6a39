//! History of a round-based test: values of the tracking variables and steady-state judgements.

use record::{Judgement, Note, Segment, VariableJudgement, Workload};

use crate::explain::{explain, remarks};
use crate::profile::Cell;
use crate::steady::{Steadiness, WINDOW_ROUNDS};
use crate::{Bench, Context, Outcome, Stop, modified};

/// Value of a tracking variable in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracked {
    /// Value in the unit of the test.
    pub value: f64,
    /// Whether the value may reflect the host instead of the drive.
    pub host_limited: bool,
}

impl Tracked {
    /// Extracts the value from a segment; 0 without a segment or without I/O.
    pub(crate) fn of(segment: Option<&Segment>, value: impl FnOnce(&Segment) -> Option<f64>) -> Self {
        let host_limited = segment.is_some_and(Segment::is_host_limited);
        Self { value: segment.and_then(value).unwrap_or(0.0), host_limited }
    }
}

/// A value that the host did not limit.
impl From<f64> for Tracked {
    fn from(value: f64) -> Self {
        Self { value, host_limited: false }
    }
}

/// Tracking variables by round, since the last interruption.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    variables: Vec<String>,
    rounds: Vec<(u32, Vec<Tracked>)>,
}

impl History {
    /// An empty history of the named variables.
    #[must_use]
    pub fn of(variables: Vec<String>) -> Self {
        Self { variables, rounds: Vec::new() }
    }

    /// Number of rounds eligible for a window: all since the last interruption.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.rounds.len() as u32
    }

    /// True if no round is eligible for a window yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Drops all rounds after an interruption, because no window may span it.
    pub fn restart(&mut self) {
        self.rounds.clear();
    }

    /// Appends one value per variable for `round` and judges the latest five rounds.
    ///
    /// # Panics
    /// If the number of values differs from the number of variables.
    pub fn judge(&mut self, round: u32, values: Vec<impl Into<Tracked>>) -> Judgement {
        assert_eq!(values.len(), self.variables.len(), "one value per tracking variable");
        let values: Vec<Tracked> = values.into_iter().map(Into::into).collect();
        self.rounds.push((round, values.clone()));
        let window = self.window();
        let variables = self.variables.iter().zip(values).enumerate().map(|(i, (name, tracked))| {
            let steadiness = window.get(i);
            let share = |part: f64, mean: f64| (mean > 0.0).then(|| part / mean);
            VariableJudgement {
                name: name.clone(),
                value: tracked.value,
                range_share: steadiness.and_then(|s| share(s.range, s.mean)),
                slope_share: steadiness.and_then(|s| share(s.slope_excursion, s.mean)),
                steady: steadiness.is_some_and(|s| s.steady),
            }
        });
        let variables: Vec<_> = variables.collect();
        Judgement { round, steady: variables.iter().all(|v| v.steady), variables }
    }

    /// Steady-state criteria of each variable over the five latest rounds; empty before five rounds.
    #[must_use]
    pub fn window(&self) -> Vec<Steadiness> {
        let Some(latest) = self.rounds.last_chunk::<WINDOW_ROUNDS>() else { return Vec::new() };
        let last_round = latest[WINDOW_ROUNDS - 1].0;
        let judged = |i: usize| {
            let host_limited = latest.iter().any(|(_, values)| values[i].host_limited);
            let steadiness = Steadiness::of(last_round, &std::array::from_fn(|r| latest[r].1[i].value));
            Steadiness { host_limited, ..steadiness }
        };
        (0..self.variables.len()).map(judged).collect()
    }

    /// Names of the tracking variables.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// Rounds and values of one variable since the last interruption.
    #[must_use]
    pub fn values(&self, variable: usize) -> Vec<(u32, f64)> {
        let value = |(round, values): &(u32, Vec<Tracked>)| Some((*round, values.get(variable)?.value));
        self.rounds.iter().filter_map(value).collect()
    }

    /// [`window`](Self::window) with the variable names.
    #[must_use]
    pub fn named_window(&self) -> Vec<(String, Steadiness)> {
        self.variables.iter().cloned().zip(self.window()).collect()
    }
}

/// Index of the last segment in a round that follows an interruption; None without an interruption.
#[must_use]
pub fn gap_at(segments: &[Segment]) -> Option<usize> {
    segments.iter().rposition(|segment| segment.gap_before.is_some())
}

/// Result of judging a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Another round is needed.
    GoOn,
    /// The five latest rounds are steady.
    Steady,
    /// No further round is allowed.
    Exhausted,
}

/// Judges a completed round under the gap rule: no window spans an interruption. `gap` is the index of the step that
/// followed the interruption.
pub(crate) fn judge(
    context: &Context<'_>,
    bench: &mut dyn Bench,
    history: &mut History,
    number: u32,
    gap: Option<usize>,
    tracked: Vec<Tracked>,
) -> Result<Verdict, Stop> {
    if let Some(step) = gap {
        // A round that starts right after the gap is whole; a round that contains the gap is not.
        let first_round = if step == 0 { number } else { number + 1 };
        history.restart();
        bench.note(Note::WindowRestarted { first_round })?;
        if step > 0 {
            return Ok(Verdict::GoOn);
        }
    }
    let judgement = history.judge(number, tracked);
    let steady = judgement.steady;
    bench.note(Note::Judged(judgement))?;
    Ok(match steady {
        true => Verdict::Steady,
        false if history.len() >= context.settings.max_rounds => Verdict::Exhausted,
        false => Verdict::GoOn,
    })
}

/// One completed round: one segment per cell, in loop order.
#[derive(Debug)]
pub(crate) struct Round {
    pub number: u32,
    pub segments: Vec<Segment>,
}

/// The completed rounds of a test loop and their judgements.
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

    /// Adds a completed round and returns whether the loop is over.
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
        Ok(verdict != Verdict::GoOn)
    }

    /// Runs the test loop: rounds over `cells` in order, each cell built by `workload` from round, step and cell, until
    /// the values that `track` extracts from a round are steady or the round limit is reached.
    pub fn repeat<C: Copy>(
        &mut self,
        context: &Context<'_>,
        bench: &mut dyn Bench,
        cells: &[C],
        workload: impl Fn(u32, u32, C) -> Workload,
        track: impl Fn(&[Segment]) -> Vec<Tracked>,
    ) -> Result<(), Stop> {
        for round in 1.. {
            bench.note(Note::RoundStarted { round, cells: cells.len() as u32 })?;
            let mut segments = Vec::with_capacity(cells.len());
            for (step, cell) in (0..).zip(cells) {
                segments.push(bench.run(&workload(round, step, *cell))?);
            }
            let tracked = track(&segments);
            if self.finish(context, bench, segments, tracked)? {
                break;
            }
        }
        bench.note(Note::RoundsEnded)
    }

    /// Adds rounds, steady state, deviations and notes to `outcome`.
    pub fn tell(
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
            explained: explain(&self.history),
            modified,
            notes,
            ..outcome
        }
    }

    /// The rounds that results are computed from: the five of the window, or the latest ones available.
    pub fn results(&self) -> &[Round] {
        let taken = (self.history.len() as usize).clamp(1, WINDOW_ROUNDS);
        &self.done[self.done.len().saturating_sub(taken)..]
    }

    /// Mean over the result rounds; None if a round lacks the value.
    pub fn mean(&self, value: impl Fn(&[Segment]) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> = self.results().iter().map(|round| value(&round.segments)).collect();
        values.filter(|v| !v.is_empty()).map(|v| v.iter().sum::<f64>() / v.len() as f64)
    }

    /// Whether `cell` was host-limited in any of the result rounds.
    pub fn is_host_limited(&self, cell: Cell) -> bool {
        self.results().iter().filter_map(|round| find(&round.segments, cell)).any(Segment::is_host_limited)
    }

    /// The value of each round, for plotting.
    pub fn points(&self, value: impl Fn(&[Segment]) -> Option<f64>) -> Vec<(f64, f64)> {
        let point = |round: &Round| Some((f64::from(round.number), value(&round.segments)?));
        self.done.iter().filter_map(point).collect()
    }

    /// Number range of the result rounds: `5-9`.
    pub fn names(&self) -> String {
        match self.results() {
            [] => "none".into(),
            [only] => only.number.to_string(),
            [first, .., last] => format!("{}-{}", first.number, last.number),
        }
    }

    /// Number of the last completed round.
    fn last(&self) -> u32 {
        self.done.len() as u32
    }

    /// Notes about the results.
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

/// Finds the segment of `cell` in a round of random cells.
pub(crate) fn find(segments: &[Segment], cell: Cell) -> Option<&Segment> {
    segments
        .iter()
        .find(|s| s.workload.block_bytes == cell.block_bytes && s.workload.read_percent == cell.read_percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_five_rounds_and_all_variables() {
        let mut history = History::of(vec!["a".into(), "b".into()]);
        for round in 1..=4 {
            let judged = history.judge(round, vec![100.0, 100.0]);
            assert!(!judged.steady && judged.variables[0].range_share.is_none());
        }
        let judged = history.judge(5, vec![100.0, 300.0]);
        assert!(judged.variables[0].steady && !judged.variables[1].steady && !judged.steady);
        (6..=9).for_each(|r| drop(history.judge(r, vec![100.0, 300.0])));
        assert!(history.window().iter().all(|s| s.steady && s.first_round == 5));
    }

    #[test]
    fn a_window_is_host_limited_as_long_as_one_of_its_rounds_is() {
        let mut history = History::of(vec!["a".into(), "b".into()]);
        let limited = |host_limited| Tracked { value: 100.0, host_limited };
        for round in 1..=6 {
            drop(history.judge(round, vec![limited(round == 2), limited(false)]));
        }
        let marks = |history: &History| history.window().iter().map(|s| s.host_limited).collect::<Vec<_>>();
        assert_eq!(marks(&history), [true, false]);
        drop(history.judge(7, vec![100.0, 100.0]));
        assert_eq!(marks(&history), [false, false], "round 2 is behind the window");
    }

    #[test]
    fn no_window_spans_an_interruption() {
        let mut history = History::of(vec!["a".into()]);
        (1..=4).for_each(|r| drop(history.judge(r, vec![100.0])));
        history.restart();
        for round in 6..=9 {
            assert!(!history.judge(round, vec![100.0]).steady);
        }
        assert!(history.judge(10, vec![100.0]).steady);
        assert_eq!(history.window()[0].first_round, 6);
    }
}
