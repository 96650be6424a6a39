//! `cargo xtask swarm`: simulates scenarios until a given number of scenarios, a time limit or a number of failures is
//! reached.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser as _;
use swarm::{Count, WholeProduct, explore, explore_notes, shrink};

/// Number of failures after which the program stops; further failures usually have the same cause.
const MOST_FAILURES: usize = 3;
/// Number of seeds if the command line sets no limit.
const SEEDS: u64 = 100;
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Simulate complete runs on simulated drives and disks, with a crash at every event
#[derive(clap::Parser)]
#[command(name = "swarm", bin_name = "cargo xtask swarm")]
struct Options {
    /// Simulate only this seed
    #[arg(long, value_name = "SEED", conflicts_with_all = ["first", "seeds"])]
    seed: Option<u64>,
    /// The first seed
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    first: u64,
    /// Number of seeds [default: 100, or as many as time allows if --minutes is set]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// Stop after this time
    #[arg(long, value_name = "M", value_parser = minutes)]
    minutes: Option<Duration>,
}

fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok();
    let length = minutes.and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok());
    length.ok_or_else(|| "use a number of minutes, such as 0.5".into())
}

/// The seeds to simulate, and the time limit.
#[derive(Debug, Clone, Copy)]
struct Extent {
    first: u64,
    seeds: u64,
    until: Option<Instant>,
}

impl Extent {
    fn of(options: &Options) -> Self {
        let without_limit = if options.minutes.is_some() { u64::MAX } else { SEEDS };
        Self {
            first: options.seed.unwrap_or(options.first),
            seeds: options.seed.map_or(options.seeds.unwrap_or(without_limit), |_| 1),
            until: options.minutes.map(|length| Instant::now() + length),
        }
    }
}

fn main() -> ExitCode {
    let extent = Extent::of(&Options::parse());
    // In scripts, paths of models and plans are relative to the workspace root, so that scripts are the same in
    // every checkout.
    if let Err(error) = std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")) {
        eprintln!("swarm: {error}");
        return ExitCode::from(2);
    }
    run(extent)
}

fn run(extent: Extent) -> ExitCode {
    plateau::mute();
    let drive = match device::open("sim:sas-slc-2011", &device::OpenOptions::default()) {
        Ok(drive) => drive,
        Err(error) => {
            eprintln!("swarm: {error}");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let (mut count, mut failures, mut reported_at) = (Count::default(), 0, Instant::now());
    let mut last = extent.first;
    for seed in (extent.first..).take(usize::try_from(extent.seeds).unwrap_or(usize::MAX)) {
        if extent.until.is_some_and(|until| Instant::now() >= until) || failures == MOST_FAILURES {
            break;
        }
        last = seed;
        match explore_notes(seed, drive.facts(), true) {
            Ok(crash_points) => count.crash_points += crash_points,
            Err(broken) => {
                failures += 1;
                println!("FAILED {broken}\nto reproduce: cargo xtask swarm --seed {seed}");
            }
        }
        match explore(&WholeProduct, seed, extent.until) {
            Ok(done) => count += done,
            Err(failure) => {
                failures += 1;
                println!("FAILED {}\n{}", failure.broken, failure.script);
                match shrink(&WholeProduct, &failure.script) {
                    Some((script, broken)) => println!("minimal script: {broken}\n{script}"),
                    None => {
                        println!(
                            "the script breaks no promise when it is simulated alone, so the simulation itself has a bug"
                        )
                    }
                }
                println!("to reproduce: cargo xtask swarm --seed {seed}");
            }
        }
        if reported_at.elapsed() >= REPORT_EVERY {
            reported_at = Instant::now();
            println!("{}", report(count, begun.elapsed(), seed));
        }
    }
    println!("{}", report(count, begun.elapsed(), last));
    if failures > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the CPU time of this process. Unlike elapsed time, it excludes other load on the CPU.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

fn report(count: Count, took: Duration, seed: u64) -> String {
    let busy_seconds = processor_seconds().unwrap_or(took.as_secs_f64()).max(1e-9);
    format!(
        "{} crash points in {:.0} s ({:.0} per CPU hour), {} runs, {} seeds, up to seed {seed}",
        count.crash_points,
        took.as_secs_f64(),
        count.crash_points as f64 / busy_seconds * 3600.0,
        count.runs,
        count.seeds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(words: &[&str]) -> Result<Extent, clap::Error> {
        let words = std::iter::once("swarm").chain(words.iter().copied());
        Options::try_parse_from(words).map(|options| Extent::of(&options))
    }

    #[test]
    fn seeds_are_limited_by_number_or_time() {
        let seeds = |words: &[&str]| extent(words).map(|extent| (extent.first, extent.seeds)).ok();
        assert_eq!(seeds(&[]), Some((1, 100)));
        assert_eq!(seeds(&["--seed", "7"]), Some((7, 1)));
        assert_eq!(seeds(&["--first", "7", "--seeds", "3"]), Some((7, 3)));
        assert_eq!(seeds(&["--minutes", "0.5"]), Some((1, u64::MAX)));
        assert!(extent(&["--minutes", "0.5"]).is_ok_and(|extent| extent.until.is_some()));
        for wrong in [&["--seed"][..], &["--seed", "x"], &["--minutes", "-1"], &["--fast"], &["7"]] {
            assert!(extent(wrong).is_err(), "{wrong:?}");
        }
    }
}
