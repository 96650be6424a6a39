//! Explains why a test is not steady: compares the last window with its limits and, once there are enough
//! rounds, diagnoses the values.

use stdx::units::grouped;

use crate::forecast::Forecast;
use crate::history::History;
use crate::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS, WindowStats};

/// Minimum number of rounds to diagnose a period or a drift.
const ROUNDS_TO_DIAGNOSE: usize = 8;
/// Minimum correlation between value and round for a drift.
const DRIFT_CORRELATION: f64 = 0.8;
/// Minimum autocorrelation for an oscillation.
const PERIOD_CORRELATION: f64 = 0.6;
/// Minimum number of observed periods.
const PERIODS_SEEN: usize = 3;
/// Relative deviation below which values count as equal except for rounding.
const SAME: f64 = 1e-9;

/// Status of one tracking variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Name of the variable.
    pub variable: String,
    /// Value in the last round.
    pub latest: f64,
    /// The window of the last five rounds; None until there are five.
    pub window: Option<WindowStats>,
    /// How an unsteady variable behaves; None if it is steady or has too few rounds.
    pub diagnosis: Option<Diagnosis>,
    /// Round in which steady state is expected; None if it has been reached.
    pub forecast: Option<Forecast>,
}

/// How the values of an unsteady variable behave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Diagnosis {
    /// The values rise or fall continuously.
    Drift {
        /// Change per round as a fraction of the mean; negative if the values fall.
        share_per_round: f64,
    },
    /// The values oscillate.
    Oscillation {
        /// Period in rounds.
        period_rounds: u32,
    },
    /// One round in the window deviates; the other four are within the limits.
    Outlier {
        /// Number of the outlying round.
        round: u32,
        /// Value in the outlying round.
        value: f64,
    },
    /// None of the above.
    Scatter {
        /// Standard deviation as a fraction of the mean.
        deviation_share: f64,
    },
}

/// Returns an explanation of every variable in a history; empty before the first round.
#[must_use]
pub fn explain(history: &History) -> Vec<Explanation> {
    let window = history.window();
    let explanation = |(index, name): (usize, &String)| {
        let values = history.values(index);
        let window = window.get(index).copied();
        let diagnosis = window.filter(|w| !w.steady).and_then(|_| diagnose(&values));
        let latest = values.last()?.1;
        let forecast =
            (!window.is_some_and(|w| w.steady)).then(|| Forecast::of(&values).until(history.last_round()));
        Some(Explanation { variable: name.clone(), latest, window, diagnosis, forecast })
    };
    history.variables().iter().enumerate().filter_map(explanation).collect()
}

/// Returns remarks about the variables that kept a test from reaching steady state.
#[must_use]
pub fn remarks(history: &History) -> Vec<String> {
    let blocking = explain(history).into_iter().filter(|e| e.window.is_some_and(|w| !w.steady));
    blocking.map(|explanation| explanation.to_string()).collect()
}

/// Diagnoses the values of consecutive rounds; None if there are too few or their mean is not positive.
#[must_use]
pub fn diagnose(rounds: &[(u32, f64)]) -> Option<Diagnosis> {
    let values: Vec<f64> = rounds.iter().map(|round| round.1).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < ROUNDS_TO_DIAGNOSE || mean <= 0.0 {
        return None;
    }
    let middle = (count - 1.0) / 2.0;
    let places: Vec<f64> = (0..values.len()).map(|i| i as f64 - middle).collect();
    let place_spread: f64 = places.iter().map(|p| p * p).sum();
    let value_spread: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let covariance: f64 = places.iter().zip(&values).map(|(p, v)| p * (v - mean)).sum();
    let slope = covariance / place_spread;
    let correlation = covariance / (place_spread * value_spread).sqrt().max(f64::MIN_POSITIVE);
    if correlation.abs() >= DRIFT_CORRELATION {
        return Some(Diagnosis::Drift { share_per_round: slope / mean });
    }
    let rests: Vec<f64> = places.iter().zip(&values).map(|(p, v)| v - mean - slope * p).collect();
    let scatter = Diagnosis::Scatter { deviation_share: (value_spread / count).sqrt() / mean };
    let oscillation = period(&rests, mean).map(|period_rounds| Diagnosis::Oscillation { period_rounds });
    Some(oscillation.or_else(|| outlier(rounds)).unwrap_or(scatter))
}

/// Returns the lag, in rounds, of the first peak in the autocorrelation of `rests`, which are the residuals of the
/// fitted line.
fn period(rests: &[f64], mean: f64) -> Option<u32> {
    let count = rests.len();
    let variance = rests.iter().map(|r| r * r).sum::<f64>() / count as f64;
    if variance.sqrt() <= SAME * mean {
        return None;
    }
    let alike = |lag: usize| {
        let sum: f64 = rests.iter().zip(&rests[lag..]).map(|(a, b)| a * b).sum();
        sum / (count - lag) as f64 / variance
    };
    let peaks = (2..=count / PERIODS_SEEN).filter(|&lag| {
        alike(lag) >= PERIOD_CORRELATION && alike(lag) > alike(lag - 1) && alike(lag) >= alike(lag + 1)
    });
    // Multiples of the period are peaks, too, so the first peak is at the period.
    peaks.min().map(|lag| lag as u32)
}

/// Finds a round without which the other four in the window are within the limits.
fn outlier(rounds: &[(u32, f64)]) -> Option<Diagnosis> {
    let window = rounds.last_chunk::<WINDOW_ROUNDS>()?;
    let without = |left_out: usize| {
        let kept: Vec<f64> = (0..WINDOW_ROUNDS).filter(|&i| i != left_out).map(|i| window[i].1).collect();
        let mean = kept.iter().sum::<f64>() / kept.len() as f64;
        // The removed round is assumed to equal the mean of the other rounds.
        let filled = std::array::from_fn(|i| if i == left_out { mean } else { window[i].1 });
        (WindowStats::of(window[WINDOW_ROUNDS - 1].0, &filled).steady, (window[left_out].1 - mean).abs())
    };
    let candidates = (0..WINDOW_ROUNDS).map(|i| (i, without(i))).filter(|(_, (steady, _))| *steady);
    let (index, _) = candidates.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
    let (round, value) = window[index];
    Some(Diagnosis::Outlier { round, value })
}

impl Explanation {
    /// Returns the criteria that fail: range, slope or both; empty if the variable is steady.
    #[must_use]
    pub fn blocked_by(&self) -> &'static [&'static str] {
        let Some(window) = self.window.filter(|window| !window.steady) else { return &[] };
        let slope = window.slope_excursion > window.slope_allowed;
        match (window.range > window.range_allowed, slope) {
            (true, true) => &["range", "slope"],
            (false, true) => &["slope"],
            (true, false) => &["range"],
            (false, false) => &[],
        }
    }
}

impl std::fmt::Display for Explanation {
    /// Formats the status as `RND 4KiB W: 912.0, mean 1,003.2 in rounds 21-25, range 31.0 % (limit 20 %), …`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.variable, figure(self.latest))?;
        let Some(window) = &self.window else {
            write!(f, "; a window needs five uninterrupted rounds")?;
            return self.forecast.map_or(Ok(()), |forecast| write!(f, "; {forecast}"));
        };
        let percent = |part: f64| if window.mean > 0.0 { part / window.mean * 100.0 } else { 0.0 };
        write!(
            f,
            ", mean {} in rounds {}-{}, range {:.1} % (limit {:.0} %), slope {:.1} % (limit {:.0} %)",
            figure(window.mean),
            window.first_round,
            window.last_round,
            percent(window.range),
            RANGE_LIMIT * 100.0,
            percent(window.slope_excursion),
            SLOPE_LIMIT * 100.0
        )?;
        match self.blocked_by() {
            _ if window.steady => write!(f, ": steady"),
            [] => write!(f, ": no measured values"),
            [reason] => write!(f, ": {reason} exceeds its limit"),
            reasons => write!(f, ": {} exceed their limits", reasons.join(" and ")),
        }?;
        self.diagnosis.map_or(Ok(()), |diagnosis| write!(f, "; {diagnosis}"))?;
        self.forecast.map_or(Ok(()), |forecast| write!(f, "; {forecast}"))
    }
}

impl std::fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Drift { share_per_round } => {
                let way = if *share_per_round < 0.0 { "falls" } else { "rises" };
                write!(f, "it {way} by {:.1} % per round", share_per_round.abs() * 100.0)
            }
            Self::Oscillation { period_rounds } => {
                write!(f, "it oscillates with a period of {period_rounds} rounds")
            }
            Self::Outlier { round, value } => write!(
                f,
                "round {round} is an outlier at {}; the other four are within the limits",
                figure(*value)
            ),
            Self::Scatter { deviation_share } => {
                write!(f, "it scatters by {:.1} % without a pattern", deviation_share * 100.0)
            }
        }
    }
}

/// Uses three decimals for small values: IOPS and MB/s are large, whereas response times in ms are small.
fn figure(value: f64) -> String {
    grouped(value, if value < 10.0 { 3 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = f64>) -> Option<Diagnosis> {
        diagnose(&(1..).zip(values).collect::<Vec<_>>())
    }

    /// Returns a few per cent of deterministic noise.
    fn noise(i: i32) -> f64 {
        f64::from((i * 37 + 11) % 7 - 3) / 2.0
    }

    #[test]
    fn a_drift_has_a_direction() {
        let Some(Diagnosis::Drift { share_per_round }) = of((0..25).map(|i| 1000.0 - 20.0 * f64::from(i)))
        else {
            panic!("no drift")
        };
        assert!((share_per_round + 20.0 / 760.0).abs() < 1e-9);
        let rising = of((0..25).map(|i| 100.0 + 3.0 * f64::from(i) + noise(i))).unwrap();
        assert!(rising.to_string().contains("it rises by 2.2 % per round"), "{rising}");
    }

    #[test]
    fn an_oscillation_has_a_period() {
        for period in 2..=8 {
            let wave = |i: i32| (f64::from(i) / f64::from(period) * std::f64::consts::TAU).cos();
            let got = of((0..25).map(|i| 1000.0 + 200.0 * wave(i) + noise(i)));
            assert_eq!(got, Some(Diagnosis::Oscillation { period_rounds: period as u32 }));
        }
        let bursts = of((0..25).map(|i| if i % 5 == 4 { 600.0 } else { 1000.0 }));
        assert_eq!(bursts, Some(Diagnosis::Oscillation { period_rounds: 5 }));
    }

    #[test]
    fn a_single_outlying_round_is_named() {
        let got = of((1..=25).map(|i| if i == 23 { 1500.0 } else { 1000.0 + noise(i) }));
        assert_eq!(got, Some(Diagnosis::Outlier { round: 23, value: 1500.0 }));
    }

    #[test]
    fn values_without_a_pattern_scatter() {
        let mut rng = stdx::Rng::from_seed(7);
        let got = of((0..25).map(|_| 500.0 + rng.below(1000) as f64));
        assert!(matches!(got, Some(Diagnosis::Scatter { .. })), "{got:?}");
        assert_eq!(of([1000.0; 7]), None, "too few");
        assert_eq!(of([0.0; 25]), None, "nothing measured");
    }

    #[test]
    fn the_blocking_variable_is_named_with_its_limits() {
        let mut history = History::of(vec!["RND 4KiB W".into(), "RND 64KiB 65/35".into()]);
        assert!(explain(&history).is_empty());
        history.judge(1, vec![500.0, 0.5]);
        assert!(explain(&history)[0].to_string().contains("needs five uninterrupted rounds"));
        for round in 2..=25 {
            let iops = if round % 2 == 0 { 850.0 } else { 1150.0 };
            drop(history.judge(round, vec![iops, 0.5]));
        }
        let explained = explain(&history);
        assert_eq!((explained[0].blocked_by(), explained[1].blocked_by()), (&["range"][..], &[][..]));
        assert_eq!(
            remarks(&history),
            ["RND 4KiB W: 1,150.0, mean 1,030.0 in rounds 21-25, range 29.1 % (limit 20 %), slope 0.0 % \
              (limit 10 %): range exceeds its limit; it oscillates with a period of 2 rounds; no forecast: \
              the values do not follow a curve"]
        );
        assert!(explained[1].to_string().ends_with("(limit 10 %): steady"));
    }

    #[test]
    fn steady_state_after_the_last_round_is_not_expected() {
        let mut history = History::of(vec!["RND 4KiB W".into()]);
        let after = |history: &mut History, rounds: std::ops::RangeInclusive<u32>| {
            for round in rounds {
                drop(history.judge(round, vec![1000.0 + 4000.0 * 0.9_f64.powi(round as i32)]));
            }
            explain(history)[0].forecast
        };
        let Some(Forecast::Round(settled)) = after(&mut history, 1..=6) else { panic!("no forecast") };
        history.limit(settled);
        assert_eq!(explain(&history)[0].forecast, Some(Forecast::Round(settled)));
        history.limit(settled - 1);
        let late = explain(&history)[0].forecast.expect("a forecast");
        assert_eq!(late, Forecast::TooLate { round: settled, last: settled - 1 });
        let text = format!("not expected to settle within {} rounds, but in round {settled}", settled - 1);
        assert_eq!(late.to_string(), text);
        // Rounds before an interruption do not count.
        history.restart();
        assert_eq!(after(&mut history, 7..=11), Some(Forecast::Round(settled)));
        assert_eq!(history.last_round(), Some(6 + settled - 1));
    }
}
