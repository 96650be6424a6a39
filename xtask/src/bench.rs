//! `cargo xtask bench NAME`: measures performance against its targets. To add a benchmark, add a file to `bench/` and
//! a line to [`BENCHMARKS`].

mod engine;
mod host;
mod report;
mod results;
mod sim;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use serde_json::json;

use results::{Benchmark, Results, Verdict};

/// Every benchmark.
const BENCHMARKS: &[Benchmark] = &[engine::BENCHMARK, report::BENCHMARK, sim::BENCHMARK];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_the_table_can_be_measured() {
        let usage = run(Path::new("."), &["disk".into()]).unwrap_err().to_string();
        assert!(BENCHMARKS.iter().all(|benchmark| usage.contains(benchmark.name)), "{usage}");
        assert!(run(Path::new("."), &[]).is_err());
    }
}
