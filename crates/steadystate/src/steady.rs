//! Steady state as defined by the PTS: five rounds, 20 % data excursion, 10 % slope excursion.

/// Number of rounds in a measurement window.
pub const WINDOW_ROUNDS: usize = 5;
/// Largest allowed difference between two values in the window, as a fraction of their mean.
pub const RANGE_LIMIT: f64 = 0.20;
/// Largest allowed rise or fall of the fitted line over the window, as a fraction of the mean.
pub const SLOPE_LIMIT: f64 = 0.10;
/// Tolerance that lets a value exactly at a limit pass on every platform.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// The steady-state criteria for one tracking variable over its last five values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowStats {
    /// First round of the window.
    pub first_round: u32,
    /// Last round of the window.
    pub last_round: u32,
    /// Mean of the values.
    pub mean: f64,
    /// Measured Maximum Data Excursion: largest minus smallest value.
    pub range: f64,
    /// Allowed Maximum Data Excursion.
    pub range_allowed: f64,
    /// Slope of the least-squares line per round.
    pub slope: f64,
    /// Value of the fitted line at round 0.
    pub intercept: f64,
    /// Measured Maximum Slope Excursion: |slope| x 4.
    pub slope_excursion: f64,
    /// Allowed Maximum Slope Excursion.
    pub slope_allowed: f64,
    /// Correlation between value and round (PTS 2.0.2); None if all values are equal.
    pub correlation: Option<f64>,
    /// Whether both excursions are within their limits and the mean is positive.
    pub steady: bool,
    /// Whether any of the values may reflect the host instead of the drive.
    pub host_limited: bool,
}

impl WindowStats {
    /// Evaluates the values of five consecutive rounds, the last of which is `last_round`.
    ///
    /// # Panics
    /// Panics if `last_round` is below 4; rounds are numbered from 0.
    #[must_use]
    pub fn of(last_round: u32, values: &[f64; WINDOW_ROUNDS]) -> Self {
        let count = WINDOW_ROUNDS as f64;
        let first_round = last_round.checked_sub(WINDOW_ROUNDS as u32 - 1).expect("five rounds in a window");
        let rounds: [f64; WINDOW_ROUNDS] = std::array::from_fn(|i| f64::from(first_round) + i as f64);
        let mean = values.iter().sum::<f64>() / count;
        let middle = rounds.iter().sum::<f64>() / count;
        let pairs = || rounds.iter().zip(values).map(|(r, v)| (r - middle, v - mean));
        let covariance: f64 = pairs().map(|(r, v)| r * v).sum();
        let round_spread: f64 = pairs().map(|(r, _)| r * r).sum();
        let value_spread: f64 = pairs().map(|(_, v)| v * v).sum();
        let slope = covariance / round_spread;
        let highest = values.iter().copied().fold(f64::MIN, f64::max);
        let lowest = values.iter().copied().fold(f64::MAX, f64::min);
        let range = highest - lowest;
        let slope_excursion = slope.abs() * (count - 1.0);
        let (range_allowed, slope_allowed) = (RANGE_LIMIT * mean, SLOPE_LIMIT * mean);
        let within = |measured: f64, allowed: f64| measured <= allowed + TOLERANCE * mean.abs();
        Self {
            first_round,
            last_round,
            mean,
            range,
            range_allowed,
            slope,
            intercept: mean - slope * middle,
            slope_excursion,
            slope_allowed,
            // The mean of equal values may differ from them in its last digit, which is not a spread.
            correlation: (range > 0.0 && value_spread > 0.0)
                .then(|| covariance / (round_spread * value_spread).sqrt()),
            steady: mean > 0.0 && within(range, range_allowed) && within(slope_excursion, slope_allowed),
            host_limited: false,
        }
    }

    /// Returns the value of the fitted line at `round`.
    #[must_use]
    pub fn fit_at(&self, round: f64) -> f64 {
        self.slope * round + self.intercept
    }

    /// Returns the formula as printed in the determination box: `-54.407 * R + 3310.267`.
    #[must_use]
    pub fn formula(&self) -> String {
        let sign = if self.intercept < 0.0 { '-' } else { '+' };
        // Values in milliseconds need more decimals than IOPS.
        let decimals = if self.mean.abs() < 100.0 { 6 } else { 3 };
        format!("{:.decimals$} * R {sign} {:.decimals$}", self.slope, self.intercept.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_values_have_no_correlation() {
        let value = 220.200_96;
        let window = WindowStats::of(5, &[value; 5]);
        assert!((window.mean - value).abs() > 0.0, "the mean is rounded");
        assert_eq!(window.correlation, None);
    }

    #[test]
    fn edge_vectors() {
        for (values, steady) in [
            ([90.0, 100.0, 100.0, 100.0, 110.0], false),
            ([90.0, 110.0, 100.0, 90.0, 110.0], true),
            ([95.0, 97.5, 100.0, 102.5, 105.0], true),
            ([80.0, 100.0, 100.0, 100.0, 100.0], false),
            ([0.0; 5], false),
        ] {
            assert_eq!(WindowStats::of(5, &values).steady, steady, "{values:?}");
        }
        for (values, range, slope, excursion, mean) in [
            ([90.0, 100.0, 100.0, 100.0, 110.0], 20.0, 4.0, 16.0, 100.0),
            ([90.0, 110.0, 100.0, 90.0, 110.0], 20.0, 2.0, 8.0, 100.0),
            ([95.0, 97.5, 100.0, 102.5, 105.0], 10.0, 2.5, 10.0, 100.0),
            ([80.0, 100.0, 100.0, 100.0, 100.0], 20.0, 4.0, 16.0, 96.0),
        ] {
            let s = WindowStats::of(5, &values);
            for (got, expected) in
                [(s.range, range), (s.slope, slope), (s.slope_excursion, excursion), (s.mean, mean)]
            {
                assert!((got - expected).abs() < 1e-9, "{values:?}: {got} instead of {expected}");
            }
        }
    }

    #[test]
    fn the_worked_example_of_mlc_a() {
        let s = WindowStats::of(5, &[3185.02, 3090.92, 3455.59, 3090.51, 2913.19]);
        let printed =
            [s.mean, s.range_allowed, s.range, s.slope_allowed, s.slope_excursion].map(|v| format!("{v:.1}"));
        assert_eq!(printed, ["3147.0", "629.4", "542.4", "314.7", "217.6"]);
        assert_eq!(s.formula(), "-54.407 * R + 3310.267");
    }

    #[test]
    fn the_fit_of_response_times_has_significant_digits() {
        // The published window for a 256 GB client drive, in ms.
        let s = WindowStats::of(5, &[0.05505859, 0.051016463, 0.046472058, 0.047450451, 0.054728707]);
        assert_eq!(s.formula(), "-0.000423 * R + 0.052213");
    }

    proptest! {
        #[test]
        fn scaling_and_time_reversal_change_no_verdict(values: [u16; 5], factor in 0.001f64..1000.0) {
            let values = values.map(|v| f64::from(v) + 1.0);
            let verdict = WindowStats::of(9, &values).steady;
            let mut reversed = values;
            reversed.reverse();
            prop_assert_eq!(WindowStats::of(9, &reversed).steady, verdict);
            prop_assert_eq!(WindowStats::of(9, &values.map(|v| v * factor)).steady, verdict);
            prop_assert_eq!(WindowStats::of(20, &values).steady, verdict);
        }

        #[test]
        fn a_line_is_fitted_exactly(slope in -50.0f64..50.0, intercept in 1000.0f64..2000.0) {
            let values = std::array::from_fn(|i| slope * (i as f64 + 3.0) + intercept);
            let s = WindowStats::of(7, &values);
            prop_assert!((s.slope - slope).abs() < 1e-8 && (s.intercept - intercept).abs() < 1e-7);
        }
    }
}
