//! A snapshot of a run as data, from which lines and JSON records are made.

use std::time::Duration;

pub use live::LivePhase as Phase;
use record::{Judgement, VariableJudgement};

use pts::forecast::Forecast;
use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS};

/// The remaining time of an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Extrapolated from the current progress.
    Known(Duration),
    /// Derived from the expected length.
    Expected(Duration),
    /// The activity has taken longer than expected.
    Overdue,
}

/// Rates in the last interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rate {
    /// I/Os per second.
    pub iops: f64,
    /// Syncs per second, which are not I/Os; 0 for loads without syncs.
    pub syncs_per_second: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Mean response time.
    pub mean_latency_ms: f64,
    /// Maximum response time; `None` if it is not meaningful.
    pub max_latency_ms: Option<f64>,
}

/// How far the last rounds are from steady state, for the variable farthest from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Number of rounds in the window, up to five.
    pub rounds: u32,
    /// The variable farthest from steady state; `None` before the first round.
    pub variable: Option<String>,
    /// Range (largest minus smallest value) as a fraction of the mean; `None` until there are two rounds. It can only
    /// grow until there are five rounds.
    pub range_share: Option<f64>,
    /// Slope excursion as a fraction of the mean; `None` until there are five rounds.
    pub slope_share: Option<f64>,
    /// The round in which this variable is expected to reach steady state.
    pub forecast_round: Option<u32>,
}

/// A snapshot of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The activity.
    pub phase: Phase,
    /// Name of the test in progress, if any.
    pub test: Option<String>,
    /// The load in PTS notation, or a description of what the run is waiting for.
    pub what: String,
    /// Number of the current round, and the maximum.
    pub round: Option<(u32, u32)>,
    /// Number of the current cell, and the total; loads outside rounds have no total.
    pub cell: Option<(u32, Option<u32>)>,
    /// Completed fraction of the activity, from 0 to 1.
    pub share_done: Option<f64>,
    /// Time since the start of the activity.
    pub elapsed: Duration,
    /// Remaining time of the activity.
    pub left: Option<Left>,
    /// Rates of a load.
    pub rate: Option<Rate>,
    /// Remaining time of the test if it reaches steady state as early as possible, and if it never does.
    pub test_left: Option<(Duration, Duration)>,
    /// How far the test is from steady state, if it ends at steady state.
    pub window: Option<Window>,
    /// The drive's temperature, if known.
    pub temperature_celsius: Option<i16>,
    /// Whether the host may have limited the last completed cell.
    pub host_limited: bool,
}

impl Window {
    /// The window before the first round.
    pub const EMPTY: Self =
        Self { rounds: 0, variable: None, range_share: None, slope_share: None, forecast_round: None };

    /// Returns the window after a round of a test that ends after round `last`; `values_of` returns the values of a
    /// variable since the last interruption, by round.
    pub fn of(judgement: &Judgement, last: u32, values_of: impl Fn(&str) -> Vec<(u32, f64)>) -> Self {
        let one = |variable: &VariableJudgement| {
            let values = values_of(&variable.name);
            let latest = &values[values.len().saturating_sub(WINDOW_ROUNDS)..];
            let forecast_round = match Forecast::of(&values).until(Some(last)) {
                Forecast::Round(round) => Some(round),
                Forecast::TooLate { .. } | Forecast::Beyond | Forecast::TooFew | Forecast::NoCurve => None,
            };
            Self {
                rounds: latest.len() as u32,
                variable: Some(variable.name.clone()),
                range_share: variable.range_share.or_else(|| range_share(latest)),
                slope_share: variable.slope_share,
                forecast_round: forecast_round.filter(|_| !variable.steady),
            }
        };
        let all = judgement.variables.iter().map(one);
        all.max_by(|a, b| a.distance().total_cmp(&b.distance())).unwrap_or(Self::EMPTY)
    }

    /// Returns the distance to steady state; 1 is the limit.
    fn distance(&self) -> f64 {
        let range = self.range_share.unwrap_or(0.0) / RANGE_LIMIT;
        range.max(self.slope_share.unwrap_or(0.0) / SLOPE_LIMIT)
    }
}

fn range_share(values: &[(u32, f64)]) -> Option<f64> {
    let mean = values.iter().map(|value| value.1).sum::<f64>() / values.len() as f64;
    let highest = values.iter().map(|value| value.1).fold(f64::MIN, f64::max);
    let lowest = values.iter().map(|value| value.1).fold(f64::MAX, f64::min);
    (values.len() > 1 && mean > 0.0).then(|| (highest - lowest) / mean)
}

impl View {
    /// Returns the remaining time of the activity, if known.
    pub fn left_of_part(&self) -> Option<Duration> {
        match self.left? {
            Left::Known(time) | Left::Expected(time) => Some(time),
            Left::Overdue => None,
        }
    }

    /// Returns the completed fraction of the current stage: a purge, preconditioning, or a round.
    pub fn share_of_stage(&self) -> Option<f64> {
        match (self.phase, self.cell) {
            (Phase::Cell, Some((cell, Some(cells)))) if cells > 0 => {
                let done = f64::from(cell.saturating_sub(1)) + self.share_done.unwrap_or(0.0);
                Some((done / f64::from(cells)).clamp(0.0, 1.0))
            }
            _ => self.share_done,
        }
    }

    /// Returns the fraction completed per minute; `None` if unknown.
    pub fn share_per_minute(&self) -> Option<f64> {
        let minutes = self.elapsed.as_secs_f64() / 60.0;
        self.share_done.filter(|share| *share > 0.0 && minutes > 0.0).map(|share| share / minutes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(shares: &[(&str, Option<f64>, Option<f64>)]) -> Judgement {
        let variable = |(name, range, slope): &(&str, Option<f64>, Option<f64>)| VariableJudgement {
            name: (*name).into(),
            value: 1.0,
            range_share: *range,
            slope_share: *slope,
            steady: false,
        };
        Judgement { round: 5, steady: false, variables: shares.iter().map(variable).collect() }
    }

    #[test]
    fn the_variable_that_is_farthest_from_steady_state_is_shown() {
        let judgement = judged(&[
            ("a", Some(0.19), Some(0.02)),
            ("b", Some(0.12), Some(0.15)),
            ("c", Some(0.25), Some(0.01)),
        ]);
        let window = Window::of(&judgement, 25, |_| (1..=5).map(|round| (round, 1.0)).collect());
        // 150 % of the limit is above 125 %.
        assert_eq!((window.variable.as_deref(), window.rounds), (Some("b"), 5));
        assert_eq!((window.range_share, window.slope_share), (Some(0.12), Some(0.15)));
    }

    #[test]
    fn before_five_rounds_the_range_covers_the_available_ones() {
        let values = |count: u32| (1..=count).map(|round| (round, 90.0 + f64::from(round) * 10.0));
        let window = |count| Window::of(&judged(&[("a", None, None)]), 25, |_| values(count).collect());
        assert_eq!((window(1).rounds, window(1).range_share), (1, None));
        assert_eq!(window(3).rounds, 3);
        // The values are 100, 110 and 120.
        assert!((window(3).range_share.unwrap() - 20.0 / 110.0).abs() < 1e-12);
        assert_eq!(window(3).slope_share, None);
    }
}
