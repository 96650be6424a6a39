//! The history of a round-based test: what was tracked, and whether it is steady.

use record::{Judgement, Segment, VariableJudgement};

use crate::steady::{Steadiness, WINDOW_ROUNDS};

/// Tracking variables round by round, since the last interruption.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    variables: Vec<String>,
    rounds: Vec<(u32, Vec<f64>)>,
}

impl History {
    /// An empty history of the named variables.
    #[must_use]
    pub fn of(variables: Vec<String>) -> Self {
        Self { variables, rounds: Vec::new() }
    }

    /// Rounds that may belong to a window: all since the last interruption.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.rounds.len() as u32
    }

    /// No round yet that may belong to a window.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// An interruption: no window may span it, so rounds count anew.
    pub fn restart(&mut self) {
        self.rounds.clear();
    }

    /// Takes one value per variable for `round` and judges the latest five rounds.
    ///
    /// # Panics
    /// Panics when the number of values is not the number of variables.
    pub fn judge(&mut self, round: u32, values: Vec<f64>) -> Judgement {
        assert_eq!(values.len(), self.variables.len(), "one value per tracking variable");
        self.rounds.push((round, values.clone()));
        let window = self.window();
        let variables = self.variables.iter().zip(values).enumerate().map(|(i, (name, value))| {
            let steadiness = window.get(i);
            let share = |part: f64, mean: f64| (mean > 0.0).then(|| part / mean);
            VariableJudgement {
                name: name.clone(),
                value,
                range_share: steadiness.and_then(|s| share(s.range, s.mean)),
                slope_share: steadiness.and_then(|s| share(s.slope_excursion, s.mean)),
                steady: steadiness.is_some_and(|s| s.steady),
            }
        });
        let variables: Vec<_> = variables.collect();
        Judgement { round, steady: variables.iter().all(|v| v.steady), variables }
    }

    /// Steadiness of every variable over the five latest rounds; empty before there are five.
    #[must_use]
    pub fn window(&self) -> Vec<Steadiness> {
        let Some(latest) = self.rounds.last_chunk::<WINDOW_ROUNDS>() else { return Vec::new() };
        let last_round = latest[WINDOW_ROUNDS - 1].0;
        (0..self.variables.len())
            .map(|i| Steadiness::of(last_round, &std::array::from_fn(|r| latest[r].1[i])))
            .collect()
    }

    /// [`window`](Self::window) with the names of the variables.
    #[must_use]
    pub fn named_window(&self) -> Vec<(String, Steadiness)> {
        self.variables.iter().cloned().zip(self.window()).collect()
    }
}

/// Where the gap lies in a round, if there is one: the first segment that follows an interruption.
#[must_use]
pub fn gap_at(segments: &[Segment]) -> Option<usize> {
    segments.iter().rposition(|segment| segment.gap_before.is_some())
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
