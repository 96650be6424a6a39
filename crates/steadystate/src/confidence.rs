//! Confidence in the verdict on a window. This goes beyond the PTS, which compares five values with two limits.
//!
//! The values are modelled as a straight line with normally distributed noise. The probability that this line's slope
//! is within the PTS limit follows from Student's distribution with three degrees of freedom. The data excursion is a
//! property of the five values themselves, so a verdict that depends only on it has no probability.

use std::f64::consts::PI;

use crate::steady::{TOLERANCE, WINDOW_ROUNDS, WindowStats};

/// Sum of the squared distances of five rounds from their middle.
const ROUND_SPREAD: f64 = 10.0;
/// Degrees of freedom of the noise: five values, less the two parameters of the line.
const DEGREES: f64 = 3.0;

/// Returns the probability that the verdict on these five values is correct about the trend; None if the values
/// violate only the limit on the data excursion, or if their mean is not positive.
#[must_use]
pub fn confidence(values: &[f64; WINDOW_ROUNDS]) -> Option<f64> {
    let window = WindowStats::of(WINDOW_ROUNDS as u32, values);
    if window.mean <= 0.0 {
        return None;
    }
    let level = probability_of_level(values, &window);
    if window.steady {
        Some(level)
    } else if !is_level(&window) {
        Some(1.0 - level)
    } else {
        None
    }
}

/// Returns whether the slope is within its limit, with the same tolerance as in the verdict.
fn is_level(window: &WindowStats) -> bool {
    window.slope_excursion <= window.slope_allowed + TOLERANCE * window.mean
}

/// Returns the probability that the slope of the line is within its limit.
fn probability_of_level(values: &[f64; WINDOW_ROUNDS], window: &WindowStats) -> f64 {
    let limit = window.slope_allowed / (WINDOW_ROUNDS as f64 - 1.0);
    let residuals =
        (window.first_round..).zip(values).map(|(round, value)| value - window.fit_at(f64::from(round)));
    let noise = residuals.map(|residual| residual * residual).sum::<f64>() / DEGREES;
    let error = (noise / ROUND_SPREAD).sqrt();
    // Without noise, rounding errors must not decide.
    if error <= 1e-12 * window.mean {
        return if is_level(window) { 1.0 } else { 0.0 };
    }
    let share = student((limit - window.slope) / error) - student((-limit - window.slope) / error);
    share.clamp(0.0, 1.0)
}

/// Evaluates Student's distribution function with three degrees of freedom.
fn student(t: f64) -> f64 {
    let scaled = t / DEGREES.sqrt();
    0.5 + (scaled / (1.0 + scaled * scaled) + scaled.atan()) / PI
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_distribution_has_the_quantiles_of_published_tables() {
        for (t, expected) in [(0.0, 0.5), (0.765, 0.75), (2.353, 0.95), (3.182, 0.975), (5.841, 0.995)] {
            assert!((student(t) - expected).abs() < 1e-4, "{t}: {}", student(t));
        }
    }

    #[test]
    fn edge_vectors() {
        assert_eq!(confidence(&[100.0; 5]), Some(1.0), "no noise, no trend");
        let rising = confidence(&[80.0, 90.0, 100.0, 110.0, 120.0]).unwrap();
        assert!(rising > 1.0 - 1e-9, "certainly not level: {rising}");
        // Only the data excursion exceeds its limit.
        assert_eq!(confidence(&[100.0, 100.0, 125.0, 100.0, 100.0]), None);
        assert_eq!(confidence(&[0.0; 5]), None);
        // The slope is exactly at its limit, so both verdicts are equally likely.
        let limit = confidence(&[95.0, 98.5, 98.0, 103.5, 105.0]).unwrap();
        assert!((limit - 0.5).abs() < 0.02, "{limit}");
    }

    proptest! {
        #[test]
        fn it_is_a_probability_that_scaling_and_time_reversal_do_not_change(
            values: [u16; 5],
            factor in 0.001f64..1000.0,
        ) {
            let values = values.map(|v| f64::from(v) + 1.0);
            let found = confidence(&values);
            prop_assert!(found.is_none_or(|share| (0.0..=1.0).contains(&share)), "{found:?}");
            let mut reversed = values;
            reversed.reverse();
            for other in [reversed, values.map(|v| v * factor)] {
                match (found, confidence(&other)) {
                    (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-6, "{a} and {b}"),
                    (a, b) => prop_assert_eq!(a, b),
                }
            }
        }

        #[test]
        fn more_noise_around_a_level_line_means_less_confidence(noise in 0.1f64..4.0) {
            let of = |noise: f64| confidence(&[100.0 + noise, 100.0 - noise, 100.0, 100.0 - noise, 100.0 + noise]).unwrap();
            prop_assert!(of(noise) > of(noise * 1.5));
        }
    }
}
