//! `cargo xtask bench NAME`: measures performance against its targets. To add a benchmark, add a file to `bench/` and
//! a line to [`BENCHMARKS`].

mod engine;
mod host;
mod report;
mod sim;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use serde_json::json;

/// One benchmark.
struct Benchmark {
    /// Name on the command line.
    name: &'static str,
    /// What it measures, and its arguments.
    about: &'static str,
    /// Whether it measures code linked into xtask itself, which then must be optimised.
    of_this_program: bool,
    /// Runs it. Arguments: the workspace root, a scratch directory, and the arguments after its name.
    run: fn(&Path, &Path, &[String]) -> anyhow::Result<Results>,
}

/// Every benchmark.
const BENCHMARKS: &[Benchmark] = &[engine::BENCHMARK, report::BENCHMARK, sim::BENCHMARK];

/// Results of a benchmark.
struct Results {
    rows: Vec<Row>,
    /// Conditions of the measurement.
    how: String,
}

/// One line of the table.
struct Row {
    /// The measured quantity.
    what: String,
    /// The target; empty for a figure without one.
    target: String,
    /// The result, formatted.
    measured: String,
    /// The result as a number, and its upper limit. Rates are inverted, so that smaller is better.
    value: f64,
    limit: Option<f64>,
    /// Value at the best quartile of the pairs, for rates that other load on the host disturbs.
    best_quarter: Option<f64>,
}

/// How a result compares with its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Stated,
    Met,
    /// Missed, but by less than the scatter of the pairs.
    Level,
    Missed,
}

impl Row {
    fn verdict(&self) -> Verdict {
        match (self.limit, self.best_quarter) {
            (None, _) => Verdict::Stated,
            (Some(limit), _) if self.value <= limit => Verdict::Met,
            (Some(limit), Some(best)) if best <= limit => Verdict::Level,
            _ => Verdict::Missed,
        }
    }

    /// Returns a row without a target.
    fn stated(what: impl Into<String>, measured: String, value: f64) -> Self {
        Self { what: what.into(), target: String::new(), measured, value, limit: None, best_quarter: None }
    }
}

impl Verdict {
    const fn word(self) -> &'static str {
        match self {
            Self::Stated => "",
            Self::Met => "met",
            Self::Level => "level",
            Self::Missed => "MISSED",
        }
    }
}

/// Runs the benchmark and prints its table.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let named = arguments
        .split_first()
        .and_then(|(name, rest)| Some((BENCHMARKS.iter().find(|benchmark| benchmark.name == name)?, rest)));
    let Some((benchmark, rest)) = named else {
        let line = |b: &Benchmark| format!("\n  {:8} {}", b.name, b.about);
        bail!("usage: cargo xtask bench NAME{}", BENCHMARKS.iter().map(line).collect::<String>());
    };
    if cfg!(debug_assertions) && benchmark.of_this_program {
        return again_optimised(root, arguments);
    }
    let folder = root.join("target/bench");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let results = (benchmark.run)(root, &folder, rest)?;
    print(&results);
    keep(&folder.join(format!("{}.jsonl", benchmark.name)), &results)
}

/// Debug builds are not representative, so this runs the optimised build instead.
fn again_optimised(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"])
        .args(arguments)
        .current_dir(root)
        .status()?;
    if status.success() { Ok(()) } else { bail!("the benchmark failed") }
}

fn print(results: &Results) {
    println!("{:<60} {:>26} {:>34}", "what", "target", "measured");
    for row in &results.rows {
        println!("{:<60} {:>26} {:>34}  {}", row.what, row.target, row.measured, row.verdict().word());
    }
    let count = |verdict| results.rows.iter().filter(|row| row.verdict() == verdict).count();
    println!(
        "{} targets met, {} level (missed by less than the scatter of the pairs), {} missed; {}",
        count(Verdict::Met),
        count(Verdict::Level),
        count(Verdict::Missed),
        results.how
    );
}

/// Appends the table to the results of earlier runs.
fn keep(path: &Path, results: &Results) -> anyhow::Result<()> {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    for row in &results.rows {
        let line = json!({
            "unix_seconds": seconds, "how": results.how, "what": row.what, "target": row.target,
            "measured": row.measured, "value": row.value, "limit": row.limit, "verdict": row.verdict().word(),
        });
        writeln!(file, "{line}")?;
    }
    println!("added to {}", path.display());
    Ok(())
}

/// Returns the median; for an even number of values, the mean of the two in the middle.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    part(values, 0.5)
}

/// Returns the quantile `part` (0 to 1), interpolated linearly; NaN without values.
fn part(values: impl IntoIterator<Item = f64>, part: f64) -> f64 {
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
    fn medians_do_not_mind_the_order() {
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
    fn what_cannot_be_measured_is_not_met() {
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

    #[test]
    fn only_what_is_in_the_table_can_be_measured() {
        let usage = run(Path::new("."), &["disk".into()]).unwrap_err().to_string();
        assert!(BENCHMARKS.iter().all(|benchmark| usage.contains(benchmark.name)), "{usage}");
        assert!(run(Path::new("."), &[]).is_err());
    }
}
