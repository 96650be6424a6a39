//! `cargo xtask bench NAME`: measures performance against its targets. To add a benchmark, add a file to `bench/` and
//! a line to [`BENCHMARKS`].

mod agreement;
mod engine;
mod fleet;
mod host;
mod lab;
mod library;
mod release;
mod report;
mod results;
mod sim;
mod targets;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use clap::ArgMatches;
use clap::error::ErrorKind;
use serde_json::json;

use crate::chore::Chore;
use results::{Benchmark, Results, Verdict};

/// Every benchmark.
const BENCHMARKS: &[Benchmark] = &[
    agreement::BENCHMARK,
    engine::BENCHMARK,
    fleet::BENCHMARK,
    lab::BENCHMARK,
    library::BENCHMARK,
    report::BENCHMARK,
    sim::BENCHMARK,
    targets::BENCHMARK,
];

/// Measure performance against its targets
#[derive(clap::Args)]
pub struct Bench {
    #[command(flatten)]
    chosen: Chosen,
}

/// A benchmark with its arguments.
struct Chosen {
    benchmark: &'static Benchmark,
    arguments: ArgMatches,
}

impl clap::FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let named = |(name, arguments): (&str, &ArgMatches)| {
            let benchmark = BENCHMARKS.iter().find(|benchmark| benchmark.name == name)?;
            Some(Self { benchmark, arguments: arguments.clone() })
        };
        matches.subcommand().and_then(named).ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Chosen {
    fn augment_args(command: clap::Command) -> clap::Command {
        let one = |benchmark: &Benchmark| (benchmark.arguments)(clap::Command::new(benchmark.name));
        command.subcommand_required(true).arg_required_else_help(true).subcommands(BENCHMARKS.iter().map(one))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl Chore for Bench {
    /// Runs the benchmark and prints its table.
    fn run(self, root: &Path) -> anyhow::Result<()> {
        let Chosen { benchmark, arguments } = &self.chosen;
        if cfg!(debug_assertions) && benchmark.of_this_program {
            return again_optimised(root);
        }
        let folder = root.join("target/bench");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let results = (benchmark.run)(root, &folder, arguments)?;
        print(&results);
        keep(&folder.join(format!("{}.jsonl", benchmark.name)), &results)
    }
}

/// Runs the benchmark in the optimised build, because debug builds are not representative.
fn again_optimised(root: &Path) -> anyhow::Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--package", "xtask", "--"])
        .args(std::env::args_os().skip(1))
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
        "{} targets met, {} level (missed by less than the spread of the pairs), {} missed; {}",
        count(Verdict::Met),
        count(Verdict::Level),
        count(Verdict::Missed),
        results.how
    );
}

/// Appends the results to those of earlier runs.
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
    use crate::chore::parsed;

    #[test]
    fn only_what_is_in_the_table_can_be_measured() {
        assert!(parsed::<Bench>(&["disk"]).is_err() && parsed::<Bench>(&[]).is_err());
        for benchmark in BENCHMARKS {
            let bench = parsed::<Bench>(&[benchmark.name]).unwrap();
            assert_eq!(bench.chosen.benchmark.name, benchmark.name);
        }
    }
}
