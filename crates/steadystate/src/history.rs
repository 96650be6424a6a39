//! The tracking variables' values by round, and the steady-state evaluation of the last window.

use record::{Judgement, Segment, VariableJudgement};

use crate::steady::{WINDOW_ROUNDS, WindowStats};

/// A tracking variable's value in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracked {
    /// Value in the test's unit.
    pub value: f64,
    /// Whether the value may reflect the host instead of the drive.
    pub host_limited: bool,
}

impl Tracked {
    /// Extracts the value from a segment; 0 if there is no segment or no I/O.
    pub fn of(segment: Option<&Segment>, value: impl FnOnce(&Segment) -> Option<f64>) -> Self {
        let host_limited = segment.is_some_and(Segment::is_host_limited);
        Self { value: segment.and_then(value).unwrap_or(0.0), host_limited }
    }
}

/// Converts a value that is not host-limited.
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
    most_rounds: Option<u32>,
}

impl History {
    /// Creates an empty history for variables with these names.
    #[must_use]
    pub fn of(variables: Vec<String>) -> Self {
        Self { variables, rounds: Vec::new(), most_rounds: None }
    }

    /// Sets the number of uninterrupted rounds after which the test ends even if it is not steady.
    pub fn limit(&mut self, most_rounds: u32) {
        self.most_rounds = Some(most_rounds);
    }

    /// Returns the number of the last round that the test can have; None if it is not known.
    #[must_use]
    pub fn last_round(&self) -> Option<u32> {
        let (latest, _) = self.rounds.last()?;
        Some(latest.saturating_add(self.most_rounds?.saturating_sub(self.len())))
    }

    /// Returns the number of rounds eligible for a window: all since the last interruption.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.rounds.len() as u32
    }

    /// Returns whether no round is eligible for a window yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Removes all rounds before an interruption, because no window may span it.
    pub fn restart(&mut self) {
        self.rounds.clear();
    }

    /// Appends one value per variable for `round` and evaluates the last five rounds.
    ///
    /// # Panics
    /// Panics if the number of values differs from the number of variables.
    pub fn judge(&mut self, round: u32, values: Vec<impl Into<Tracked>>) -> Judgement {
        assert_eq!(values.len(), self.variables.len(), "one value per tracking variable");
        let values: Vec<Tracked> = values.into_iter().map(Into::into).collect();
        self.rounds.push((round, values.clone()));
        let window = self.window();
        let variables = self.variables.iter().zip(values).enumerate().map(|(i, (name, tracked))| {
            let stats = window.get(i);
            let share = |part: f64, mean: f64| (mean > 0.0).then(|| part / mean);
            VariableJudgement {
                name: name.clone(),
                value: tracked.value,
                range_share: stats.and_then(|s| share(s.range, s.mean)),
                slope_share: stats.and_then(|s| share(s.slope_excursion, s.mean)),
                steady: stats.is_some_and(|s| s.steady),
            }
        });
        let variables: Vec<_> = variables.collect();
        Judgement { round, steady: variables.iter().all(|v| v.steady), variables }
    }

    /// Returns the steady-state criteria of each variable over the last five rounds; empty until there are five.
    #[must_use]
    pub fn window(&self) -> Vec<WindowStats> {
        let Some(latest) = self.rounds.last_chunk::<WINDOW_ROUNDS>() else { return Vec::new() };
        let last_round = latest[WINDOW_ROUNDS - 1].0;
        let judged = |i: usize| {
            let host_limited = latest.iter().any(|(_, values)| values[i].host_limited);
            let stats = WindowStats::of(last_round, &std::array::from_fn(|r| latest[r].1[i].value));
            WindowStats { host_limited, ..stats }
        };
        (0..self.variables.len()).map(judged).collect()
    }

    /// Returns the names of the tracking variables.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// Returns the rounds since the last interruption, with the value of one variable in each.
    #[must_use]
    pub fn values(&self, variable: usize) -> Vec<(u32, f64)> {
        let value = |(round, values): &(u32, Vec<Tracked>)| Some((*round, values.get(variable)?.value));
        self.rounds.iter().filter_map(value).collect()
    }

    /// Returns [`window`](Self::window) with the variables' names.
    #[must_use]
    pub fn named_window(&self) -> Vec<(String, WindowStats)> {
        self.variables.iter().cloned().zip(self.window()).collect()
    }
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
        assert_eq!(marks(&history), [false, false], "round 2 is before the window");
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
