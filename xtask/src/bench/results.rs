//! A benchmark, and its results as a table.

use std::path::Path;

use clap::ArgMatches;

/// The arguments of a benchmark; their doc comments are the help text.
pub trait Measured: clap::Args {
    /// Runs the measurements in the workspace at `root`, with a scratch directory.
    fn run(self, root: &Path, folder: &Path) -> anyhow::Result<Results>;
}

/// An entry in the benchmark table.
pub struct Benchmark {
    /// Name on the command line.
    pub name: &'static str,
    /// Whether the benchmark measures code that is linked into xtask itself, which must then be optimised.
    pub of_this_program: bool,
    /// Adds the benchmark's arguments to a command.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Runs the benchmark. Arguments: the workspace root, a scratch directory, and the arguments after the
    /// name on the command line.
    pub run: fn(&Path, &Path, &ArgMatches) -> anyhow::Result<Results>,
}

impl Benchmark {
    /// Returns the entry of a benchmark.
    pub const fn of<M: Measured>(name: &'static str, of_this_program: bool) -> Self {
        let run = |root: &Path, folder: &Path, matches: &ArgMatches| {
            M::from_arg_matches(matches)?.run(root, folder)
        };
        Self { name, of_this_program, arguments: M::augment_args, run }
    }
}

/// Results of a benchmark.
pub struct Results {
    pub rows: Vec<Row>,
    /// Conditions of the measurement.
    pub how: String,
}

/// A line in the table.
pub struct Row {
    /// The measured quantity.
    pub what: String,
    /// The target; empty for a figure without a target.
    pub target: String,
    /// The result, formatted.
    pub measured: String,
    /// The result as a number, and its upper limit. Rates are inverted, so that smaller values are better.
    pub value: f64,
    pub limit: Option<f64>,
    /// The value at the better quartile of the pairs. This is used for rates, which are sensitive to other load
    /// on the host.
    pub best_quarter: Option<f64>,
}

/// How a result compares with its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Stated,
    Met,
    /// Missed, but by less than the spread of the pairs.
    Level,
    Missed,
}

impl Row {
    pub fn verdict(&self) -> Verdict {
        match (self.limit, self.best_quarter) {
            (None, _) => Verdict::Stated,
            (Some(limit), _) if self.value <= limit => Verdict::Met,
            (Some(limit), Some(best)) if best <= limit => Verdict::Level,
            _ => Verdict::Missed,
        }
    }

    /// Returns a row without a target.
    pub fn stated(what: impl Into<String>, measured: String, value: f64) -> Self {
        Self { what: what.into(), target: String::new(), measured, value, limit: None, best_quarter: None }
    }
}

impl Verdict {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stated => "",
            Self::Met => "met",
            Self::Level => "level",
            Self::Missed => "MISSED",
        }
    }
}

/// Returns the median; for an even number of values, the mean of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    part(values, 0.5)
}

/// Returns the quantile `part` (0 to 1), interpolated linearly; NaN if there are no values.
pub fn part(values: impl IntoIterator<Item = f64>, part: f64) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_do_not_depend_on_the_order() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
    }

    #[test]
    fn quarters_lie_between_values() {
        assert_eq!(part([4.0, 1.0, 3.0, 2.0, 5.0], 0.25), 2.0);
        assert_eq!(part([1.0, 2.0], 0.75), 1.75);
    }

    #[test]
    fn an_unmeasured_target_is_not_met() {
        let row = |value, best_quarter| Row {
            limit: Some(1.0),
            best_quarter,
            ..Row::stated("", String::new(), value)
        };
        assert_eq!(row(1.0, None).verdict(), Verdict::Met);
        assert_eq!(row(1.1, None).verdict(), Verdict::Missed);
        assert_eq!(row(f64::NAN, Some(f64::NAN)).verdict(), Verdict::Missed);
        assert_eq!(row(1.1, Some(0.9)).verdict(), Verdict::Level);
        assert_eq!(row(1.1, Some(1.05)).verdict(), Verdict::Missed);
        assert_eq!(Row::stated("", String::new(), 7.0).verdict(), Verdict::Stated);
    }
}
