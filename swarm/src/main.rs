//! `cargo xtask swarm`: plays scenarios until a given number of them, a time limit or a number of failures is reached.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use swarm::{Count, WholeProduct, explore, explore_notes, shrink};

/// Failures after which the program stops; further ones usually have the same cause.
const MOST_FAILURES: usize = 3;
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// The seeds to run, and the time limit.
#[derive(Debug, Clone, Copy)]
struct Extent {
    first: u64,
    seeds: u64,
    until: Option<Instant>,
}

fn extent(arguments: &[String]) -> Result<Extent, String> {
    let mut extent = Extent { first: 1, seeds: u64::MAX, until: None };
    let mut words = arguments.iter();
    while let Some(name) = words.next() {
        let value = words.next().ok_or_else(|| format!("{name} needs a value"))?;
        let wrong = || format!("{name} {value}: not a number");
        match name.as_str() {
            "--seed" => (extent.first, extent.seeds) = (value.parse().map_err(|_| wrong())?, 1),
            "--first" => extent.first = value.parse().map_err(|_| wrong())?,
            "--seeds" => extent.seeds = value.parse().map_err(|_| wrong())?,
            "--minutes" => {
                let minutes: f64 = value.parse().map_err(|_| wrong())?;
                let length = Duration::try_from_secs_f64(minutes * 60.0).map_err(|_| wrong())?;
                extent.until = Some(Instant::now() + length);
            }
            _ => return Err(format!("no option '{name}'")),
        }
    }
    if extent.until.is_none() && extent.seeds == u64::MAX {
        extent.seeds = 100;
    }
    Ok(extent)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let extent = match extent(&arguments) {
        Ok(extent) => extent,
        Err(problem) => {
            eprintln!("swarm: {problem}\nusage: swarm [--seeds N] [--first S] [--minutes M] [--seed S]");
            return ExitCode::from(2);
        }
    };
    // Scripts name models and plans relative to the workspace root, so that they are the same in every checkout.
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
    let (mut count, mut failures, mut told) = (Count::default(), 0, Instant::now());
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
                println!("FAILED {broken}\nagain: cargo xtask swarm --seed {seed}");
            }
        }
        match explore(&WholeProduct, seed, extent.until) {
            Ok(done) => count += done,
            Err(failure) => {
                failures += 1;
                println!("FAILED {}\n{}", failure.broken, failure.script);
                match shrink(&WholeProduct, &failure.script) {
                    Some((script, broken)) => println!("at least: {broken}\n{script}"),
                    None => {
                        println!(
                            "played alone, the script breaks no promise, so the simulation itself has a defect"
                        )
                    }
                }
                println!("again: cargo xtask swarm --seed {seed}");
            }
        }
        if told.elapsed() >= REPORT_EVERY {
            told = Instant::now();
            println!("{}", report(count, begun.elapsed(), seed));
        }
    }
    println!("{}", report(count, begun.elapsed(), last));
    if failures > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the CPU time of this process; elapsed time would include other load on the CPU.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

fn report(count: Count, took: Duration, seed: u64) -> String {
    let busy_seconds = processor_seconds().unwrap_or(took.as_secs_f64()).max(1e-9);
    format!(
        "{} crash points in {:.0} s ({:.0} per hour of a processor), {} runs, {} seeds, up to seed {seed}",
        count.crash_points,
        took.as_secs_f64(),
        count.crash_points as f64 / busy_seconds * 3600.0,
        count.runs,
        count.seeds
    )
}
