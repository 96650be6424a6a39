//! Determines whether two figures differ by more than their rounds differ among themselves.

use report::parts::Better;

/// Bounds closer to zero than this, in percent, are treated as zero, because they are printed as zero even with
/// [`MOST_DECIMALS`].
const INDISTINGUISHABLE: f64 = 0.0005;
/// Number of decimal places of percentages that are too small for one decimal place.
pub(crate) const MOST_DECIMALS: usize = 3;

/// Assessment of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// The confidence interval is entirely on the better side of zero.
    Better,
    /// The confidence interval is entirely on the worse side of zero.
    Worse,
    /// The confidence interval contains zero, or ends so close to it that the printed figures show no difference.
    WithinNoise,
    /// At least one of the figures has only one value, so the spread is unknown.
    SpreadUnknown,
}

impl Finding {
    /// Returns the finding in one or two words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::WithinNoise => "within noise",
            Self::SpreadUnknown => "spread unknown",
        }
    }
}

/// Difference between a figure and the same figure in the first run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Difference between the means, in percent of the first mean.
    pub percent: f64,
    /// Bounds of the 95 % confidence interval, in percent of the first mean, never below -100; None if the spread is
    /// unknown.
    pub interval_percent: Option<(f64, f64)>,
    /// Assessment of the difference.
    pub finding: Finding,
}

impl Difference {
    /// Compares two samples. Returns `None` if there are no values, or if the first mean is not positive.
    pub(crate) fn of(first: &[f64], other: &[f64], better: Better) -> Option<Self> {
        let (a, b) = (Sample::of(first)?, Sample::of(other)?);
        if a.mean <= 0.0 {
            return None;
        }
        let percent = (b.mean / a.mean - 1.0) * 100.0;
        let interval_percent =
            ratio_interval(&a, &b).map(|(low, high)| ((low - 1.0) * 100.0, (high - 1.0) * 100.0));
        let finding = match (interval_percent, better) {
            (None, _) => Finding::SpreadUnknown,
            (Some((low, high)), _) if low < INDISTINGUISHABLE && high > -INDISTINGUISHABLE => {
                Finding::WithinNoise
            }
            (Some((low, _)), Better::More) if low > 0.0 => Finding::Better,
            (Some((low, _)), Better::Less) if low < 0.0 => Finding::Better,
            (Some(_), _) => Finding::Worse,
        };
        Some(Self { percent, interval_percent, finding })
    }
}

/// Returns the 95 % confidence interval of the ratio of two means, with a positive first mean. It is Welch's interval,
/// because the spreads may differ, and it is computed for the logarithm of the ratio (delta method), so that no bound
/// is negative. None if the spread is unknown or the logarithm does not exist.
fn ratio_interval(a: &Sample, b: &Sample) -> Option<(f64, f64)> {
    let relative = |sample: &Sample| Some(sample.variance_of_mean()? / sample.mean.powi(2));
    let va = relative(a)?;
    if b.mean <= 0.0 {
        // Nothing remains of a quantity that was certainly present: the ratio is 0, whatever its denominator.
        let has_vanished = b.mean == 0.0 && b.variance == Some(0.0);
        return (has_vanished && student_t(a.count - 1.0) * va.sqrt() < 1.0).then_some((0.0, 0.0));
    }
    let vb = relative(b)?;
    let half = student_t(degrees_of_freedom((a.count, va), (b.count, vb))) * (va + vb).sqrt();
    let ratio = b.mean / a.mean;
    Some((ratio * (-half).exp(), ratio * half.exp()))
}

/// Returns the 95 % confidence interval of the mean; None if there are fewer than two values.
pub(crate) fn mean_interval(values: &[f64]) -> Option<(f64, f64)> {
    let sample = Sample::of(values)?;
    let half = student_t(sample.count - 1.0) * sample.variance_of_mean()?.sqrt();
    Some((sample.mean - half, sample.mean + half))
}

/// Count, mean and variance of some values.
pub(crate) struct Sample {
    pub count: f64,
    pub mean: f64,
    /// None if there are fewer than two values.
    pub variance: Option<f64>,
}

impl Sample {
    /// Returns `None` if there are no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let variance = (values.len() > 1).then(|| squares / (count - 1.0));
        (!values.is_empty()).then_some(Self { count, mean, variance })
    }

    pub fn variance_of_mean(&self) -> Option<f64> {
        self.variance.map(|variance| variance / self.count)
    }
}

/// Computes the degrees of freedom by the Welch-Satterthwaite equation, for two counts of values with the
/// variances of their means.
fn degrees_of_freedom((count_a, va): (f64, f64), (count_b, vb): (f64, f64)) -> f64 {
    let below = va.powi(2) / (count_a - 1.0) + vb.powi(2) / (count_b - 1.0);
    if below > 0.0 { (va + vb).powi(2) / below } else { count_a + count_b - 2.0 }
}

/// Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom.
pub(crate) const QUANTILES: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Returns the two-sided 95 % quantile of Student's t; fractional degrees of freedom are rounded down.
pub(crate) fn student_t(degrees: f64) -> f64 {
    let whole = (degrees + 1e-9).floor().max(1.0) as usize;
    QUANTILES.get(whole - 1).copied().unwrap_or(if whole < 60 { 2.042 } else { 2.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval was calculated by hand: means 100 and 94, variances 2.5, five values each. The relative variances of
    /// the means are 5e-5 and 5.659e-5, so the logarithm of the ratio has a standard error of 0.010324 with 7.97 degrees
    /// of freedom; t(7) = 2.365.
    #[test]
    fn an_interval_is_welchs_on_the_logarithm() {
        let first = [98.0, 99.0, 100.0, 101.0, 102.0];
        let other = first.map(|value| value - 6.0);
        let difference = Difference::of(&first, &other, Better::More).expect("values");
        assert!((difference.percent + 6.0).abs() < 1e-9);
        let (low, high) = difference.interval_percent.expect("spread");
        assert!((low + 8.267).abs() < 1e-3 && (high + 3.677).abs() < 1e-3, "{low} {high}");
        assert_eq!(difference.finding, Finding::Worse);
        assert_eq!(Difference::of(&first, &other, Better::Less).unwrap().finding, Finding::Better);
        assert_eq!(Difference::of(&other, &first, Better::More).unwrap().finding, Finding::Better);
        assert_eq!(Difference::of(&other, &first, Better::Less).unwrap().finding, Finding::Worse);
    }

    #[test]
    fn no_bound_is_below_minus_100_percent() {
        let interval = |first: &[f64], other: &[f64]| {
            let found = Difference::of(first, other, Better::More).expect("values");
            (found.interval_percent, found.finding)
        };
        let (bounds, finding) = interval(&[1000.0, 1100.0], &[10.0, 300.0]);
        let (low, high) = bounds.expect("a spread");
        assert!(low > -100.0 && high > 0.0 && finding == Finding::WithinNoise, "{low} {high}");
        let (bounds, finding) = interval(&[1.0, 90.0, 3.0], &[2.0, 1.0, 50.0]);
        assert!(bounds.is_some_and(|(low, _)| low > -100.0) && finding == Finding::WithinNoise, "{bounds:?}");
        // A quantity that vanished counts as worse, but only if it was certainly present.
        assert_eq!(interval(&[9.0, 10.0, 11.0], &[0.0; 3]), (Some((-100.0, -100.0)), Finding::Worse));
        assert_eq!(interval(&[0.0, 0.0, 9.0], &[0.0; 3]), (None, Finding::SpreadUnknown));
        assert_eq!(interval(&[9.0, 10.0, 11.0], &[-3.0, -4.0]), (None, Finding::SpreadUnknown));
    }

    #[test]
    fn a_difference_that_no_printed_figure_shows_is_noise() {
        let of = |factor: f64| Difference::of(&[1e6; 5], &[1e6 * factor; 5], Better::More).unwrap().finding;
        assert_eq!((of(1.000_004), of(0.999_996)), (Finding::WithinNoise, Finding::WithinNoise));
        assert_eq!((of(1.000_006), of(0.999_994)), (Finding::Better, Finding::Worse));
    }

    #[test]
    fn a_difference_inside_the_spread_is_noise() {
        let first = [90.0, 110.0, 95.0, 105.0, 100.0];
        let other = [95.0, 112.0, 97.0, 109.0, 102.0];
        assert_eq!(Difference::of(&first, &other, Better::More).unwrap().finding, Finding::WithinNoise);
    }

    #[test]
    fn the_interval_of_a_mean_is_students() {
        let (low, high) = mean_interval(&[98.0, 99.0, 100.0, 101.0, 102.0]).expect("a spread");
        let half = 2.776 * 0.5f64.sqrt();
        assert!((low - 100.0 + half).abs() < 1e-9 && (high - 100.0 - half).abs() < 1e-9, "{low} {high}");
        assert_eq!((mean_interval(&[1.0]), mean_interval(&[])), (None, None));
    }

    #[test]
    fn single_values_have_no_known_spread() {
        let difference = Difference::of(&[10.0], &[5.0], Better::More).unwrap();
        assert_eq!((difference.percent, difference.finding), (-50.0, Finding::SpreadUnknown));
        assert_eq!(difference.interval_percent, None);
        assert_eq!(Difference::of(&[], &[5.0], Better::More), None);
        assert_eq!(Difference::of(&[0.0], &[5.0], Better::More), None);
    }

    #[test]
    fn constant_values_are_compared_exactly() {
        assert_eq!(Difference::of(&[5.0; 5], &[5.0; 5], Better::More).unwrap().finding, Finding::WithinNoise);
        assert_eq!(Difference::of(&[5.0; 5], &[6.0; 5], Better::More).unwrap().finding, Finding::Better);
    }
}
