//! Forecasts the round in which a tracking variable becomes steady: extrapolates its values along a curve that levels
//! off, and applies the PTS window to them.

use crate::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS, WindowStats};

/// Minimum number of rounds: the curve has three parameters, so it would fit any three rounds.
const ROUNDS_TO_FORECAST: usize = 4;
/// Forecast horizon.
const HORIZON_ROUNDS: u32 = 100;
/// Ratios of successive steps to try, in percent: from a curve that levels off immediately to a nearly straight line.
const RATIOS: std::ops::RangeInclusive<u32> = 1..=99;
/// Mean range of five normally distributed values, in standard deviations.
const RANGE_OF_FIVE: f64 = 2.326;
/// Mean rise over the window of a line fitted to five such values: 4 / sqrt(10) x sqrt(2 / pi).
const SLOPE_OF_FIVE: f64 = 1.009;

/// When steady state is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forecast {
    /// The first window within the limits ends with this round.
    Round(u32),
    /// The first window within the limits would end with `round`, but the test ends with the round `last`.
    TooLate {
        /// Round in which steady state would be reached.
        round: u32,
        /// Last round of the test.
        last: u32,
    },
    /// Steady state is not expected in the next 100 rounds.
    Beyond,
    /// Too few rounds for a forecast.
    TooFew,
    /// The values do not follow a curve closely enough for a forecast.
    NoCurve,
}

/// The curve `value = level + step * ratio ^ round`, with the standard deviation of the values from it.
struct Curve {
    level: f64,
    step: f64,
    ratio: f64,
    deviation: f64,
}

impl Forecast {
    /// Forecasts from the values of consecutive rounds since the last interruption.
    #[must_use]
    pub fn of(rounds: &[(u32, f64)]) -> Self {
        let values: Vec<f64> = rounds.iter().map(|round| round.1).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let Some(&(last_round, _)) = rounds.last().filter(|_| values.len() >= ROUNDS_TO_FORECAST) else {
            return Self::TooFew;
        };
        if mean <= 0.0 {
            return Self::NoCurve;
        }
        let curve = Curve::through(&values);
        // Scatter about the curve is assumed to continue.
        let (range, slope) = (RANGE_OF_FIVE * curve.deviation, SLOPE_OF_FIVE * curve.deviation);
        if range > RANGE_LIMIT * curve.level.abs() || slope > SLOPE_LIMIT * curve.level.abs() {
            return Self::NoCurve;
        }
        let mut continued = values;
        for ahead in 1..=HORIZON_ROUNDS {
            let next = curve.at(continued.len());
            if next <= 0.0 {
                return Self::NoCurve;
            }
            continued.push(next);
            let Some(window) = continued.last_chunk::<WINDOW_ROUNDS>() else { continue };
            let judged = WindowStats::of(last_round + ahead, window);
            let scattered = |measured: f64, by: f64, allowed: f64| measured.hypot(by) <= allowed;
            if scattered(judged.range, range, judged.range_allowed)
                && scattered(judged.slope_excursion, slope, judged.slope_allowed)
            {
                return Self::Round(last_round + ahead);
            }
        }
        Self::Beyond
    }

    /// Returns the forecast for a test whose last round is `last`; None means that the number of rounds is not
    /// limited.
    #[must_use]
    pub fn until(self, last: Option<u32>) -> Self {
        match (self, last) {
            (Self::Round(round), Some(last)) if round > last => Self::TooLate { round, last },
            _ => self,
        }
    }
}

/// Continues the values of consecutive rounds along the forecast's curve; empty if there are too few rounds for a
/// forecast.
#[must_use]
pub fn continued(rounds: &[(u32, f64)], ahead: u32) -> Vec<(u32, f64)> {
    let values: Vec<f64> = rounds.iter().map(|round| round.1).collect();
    let Some(&(last_round, _)) = rounds.last().filter(|_| values.len() >= ROUNDS_TO_FORECAST) else {
        return Vec::new();
    };
    let curve = Curve::through(&values);
    let place = |round: u32| values.len() + round as usize - 1;
    (1..=ahead).map(|round| (last_round.saturating_add(round), curve.at(place(round)))).collect()
}

impl Curve {
    /// Finds the best least-squares fit: fits a line over `ratio ^ round` for each ratio.
    fn through(values: &[f64]) -> Self {
        let curves = RATIOS.map(|percent| Self::with_ratio(values, f64::from(percent) / 100.0));
        curves.min_by(|a, b| a.deviation.total_cmp(&b.deviation)).expect("there are ratios")
    }

    fn with_ratio(values: &[f64], ratio: f64) -> Self {
        let count = values.len() as f64;
        let powers: Vec<f64> = (0..values.len()).map(|i| ratio.powi(i as i32)).collect();
        let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / count;
        let (power, value) = (mean(&powers), mean(values));
        let covariance: f64 = powers.iter().zip(values).map(|(p, v)| (p - power) * (v - value)).sum();
        let spread: f64 = powers.iter().map(|p| (p - power).powi(2)).sum();
        let step = covariance / spread;
        let level = value - step * power;
        let squares: f64 = powers.iter().zip(values).map(|(p, v)| (v - level - step * p).powi(2)).sum();
        // Degrees of freedom that remain after three parameters have been fitted.
        let free = (values.len() - 3) as f64;
        Self { level, step, ratio, deviation: (squares / free).sqrt() }
    }

    fn at(&self, index: usize) -> f64 {
        self.level + self.step * self.ratio.powi(index as i32)
    }
}

impl std::fmt::Display for Forecast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Round(round) => write!(f, "expected to settle in round {round}"),
            Self::TooLate { round, last } => {
                write!(f, "not expected to settle within {last} rounds, but in round {round}")
            }
            Self::Beyond => write!(f, "not expected to settle within {HORIZON_ROUNDS} more rounds"),
            Self::TooFew => {
                write!(f, "no forecast before {ROUNDS_TO_FORECAST} rounds")
            }
            Self::NoCurve => write!(f, "no forecast: the values do not follow a curve"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;

    fn numbered(values: &[f64]) -> Vec<(u32, f64)> {
        (1..).zip(values.iter().copied()).collect()
    }

    /// Returns the first round in which the values are steady.
    fn settles(value: impl Fn(u32) -> f64) -> Option<u32> {
        let mut history = History::of(vec!["a".into()]);
        (1..=100).find(|round| history.judge(*round, vec![value(*round)]).steady)
    }

    #[test]
    fn values_are_continued_along_their_curve() {
        let rounds: Vec<(u32, f64)> =
            (1..=6).map(|round| (round, 1000.0 + 500.0 * 0.5_f64.powi(round as i32))).collect();
        let ahead = continued(&rounds, 2);
        assert_eq!(ahead.iter().map(|(round, _)| *round).collect::<Vec<_>>(), [7, 8]);
        assert!((ahead[0].1 - 1003.9).abs() < 0.5, "{ahead:?}");
        assert_eq!(continued(&rounds[..3], 2), []);
    }

    #[test]
    fn a_curve_that_levels_off_is_foreseen() {
        for (level, step, ratio) in [
            (1_000.0, 4_000.0, 0.6),
            (20_000.0, 60_000.0, 0.8),
            (500.0, -400.0, 0.7),
            (1_000.0, 9_000.0, 0.9),
        ] {
            let value = |round: u32| level + step * f64::powi(ratio, round as i32);
            let truth = settles(value).unwrap();
            for known in 4..truth {
                let values: Vec<f64> = (1..=known).map(value).collect();
                assert_eq!(
                    Forecast::of(&numbered(&values)),
                    Forecast::Round(truth),
                    "{known} rounds of {level}"
                );
            }
        }
    }

    #[test]
    fn noise_moves_a_forecast_little() {
        let mut rng = stdx::Rng::from_seed(5);
        let mut noisy = |round: u32| {
            let noise = 1.0 + (rng.below(2_001) as f64 - 1_000.0) / 1e5;
            (20_000.0 + 60_000.0 * 0.8f64.powi(round as i32)) * noise
        };
        let values: Vec<f64> = (1..=9).map(&mut noisy).collect();
        let truth = settles(|round| 20_000.0 + 60_000.0 * 0.8f64.powi(round as i32)).unwrap();
        let Forecast::Round(round) = Forecast::of(&numbered(&values)) else { panic!("no forecast") };
        assert!(round.abs_diff(truth) <= 2, "{round} instead of {truth}");
    }

    #[test]
    fn level_values_settle_in_the_fifth_round() {
        assert_eq!(Forecast::of(&numbered(&[100.0; 4])), Forecast::Round(5));
        assert_eq!(Forecast::of(&[(7, 100.0), (8, 101.0), (9, 99.5), (10, 100.2)]), Forecast::Round(11));
    }

    #[test]
    fn values_without_a_curve_have_no_forecast() {
        assert_eq!(Forecast::of(&numbered(&[100.0; 3])), Forecast::TooFew);
        assert_eq!(Forecast::of(&[]), Forecast::TooFew);
        assert_eq!(Forecast::of(&numbered(&[0.0; 9])), Forecast::NoCurve);
        let swinging: Vec<f64> = (0..12).map(|i| if i % 2 == 0 { 800.0 } else { 1_200.0 }).collect();
        assert_eq!(Forecast::of(&numbered(&swinging)), Forecast::NoCurve);
        let falling: Vec<f64> = (0..9).map(|i| 1_000.0 - 110.0 * f64::from(i)).collect();
        assert!(matches!(Forecast::of(&numbered(&falling)), Forecast::NoCurve | Forecast::Beyond));
    }
}
