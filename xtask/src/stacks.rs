//! `cargo xtask stacks`: builds many random stacks of devices, files, mounts and locks
//! (`crates/device/tests/stacks.rs`).
//!
//! On the host it needs root and loop devices; `--in-vm` boots the machine of `vm-test`, whose kernel also has device
//! mapper and md. Layers and outcomes are counted; in the machine, a run of at least [`SENSIBLE`] stacks fails if it
//! never built one of the required kinds of layers.

mod counts;
mod machine;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::Value;

use counts::Counts;

const USAGE: &str = "usage: cargo xtask stacks [--count N] [--seed S] [--jobs N] [--in-vm [--kernel PACKAGE]...]\n\
                     PACKAGE is the file of a Debian package linux-image-VERSION-amd64 whose kernel is booted";

/// Number of stacks after which every kind of layer has been drawn many times.
const SENSIBLE: u64 = 1000;

struct Options {
    count: u64,
    seed: u64,
    /// Concurrent processes; each mostly waits for the kernel.
    jobs: u64,
    in_vm: bool,
    /// Packages of the kernel to boot; if empty, the distribution's kernel.
    kernel: Vec<PathBuf>,
}

fn parse(arguments: &[String]) -> anyhow::Result<Options> {
    let mut options = Options { count: 1000, seed: 1, jobs: 4, in_vm: false, kernel: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--kernel" {
            options.kernel.push(rest.next().context(USAGE)?.into());
            continue;
        }
        let mut number = || rest.next().and_then(|text| text.parse().ok()).context(USAGE);
        match argument.as_str() {
            "--count" => options.count = number()?,
            "--seed" => options.seed = number()?,
            "--jobs" => options.jobs = number()?.max(1),
            "--in-vm" => options.in_vm = true,
            _ => bail!(USAGE),
        }
    }
    Ok(options)
}

/// Runs the stacks; fails if one of them fails.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let options = parse(arguments)?;
    let program = build(root, options.in_vm)?;
    let begun = Instant::now();
    let (counts, failed) = if options.in_vm {
        machine::run(root, &program, &options)?
    } else {
        on_this_host(&program, &options)?
    };
    counts.print();
    println!("{} stacks in {:.0} s", counts.stacks() + failed, begun.elapsed().as_secs_f64());
    if failed > 0 {
        let place = if options.in_vm { " --in-vm" } else { "" };
        bail!("{failed} stacks failed; --count 1 --seed SEED{place} repeats one");
    }
    if options.in_vm && options.count >= SENSIBLE { counts.all_kinds() } else { Ok(()) }
}

fn on_this_host(program: &Path, options: &Options) -> anyhow::Result<(Counts, u64)> {
    let folder = tempfile::tempdir()?;
    let shares = shares(options.seed, options.count, options.jobs);
    let started = shares.iter().enumerate().map(|(job, &(seed, count))| {
        let file = folder.path().join(job.to_string());
        Ok((start(program, seed, count, &file)?, file, count))
    });
    let started: Vec<(Child, PathBuf, u64)> = started.collect::<anyhow::Result<_>>()?;
    let (mut all, mut failed) = (Counts::default(), 0);
    for (child, file, count) in started {
        let output = child.wait_with_output()?;
        print!("{}", String::from_utf8_lossy(&output.stdout));
        // A process that could not start reports the reason on standard error, and writes no counts.
        let counts = std::fs::read(&file)
            .map(|json| Counts::parse(&json))
            .unwrap_or_else(|_| Ok(Counts::default()))?;
        if !output.status.success() {
            failed += count.saturating_sub(counts.stacks()).max(1);
        }
        all.add(counts);
    }
    Ok((all, failed))
}

/// Returns first seed and number of stacks for each process.
fn shares(seed: u64, count: u64, jobs: u64) -> Vec<(u64, u64)> {
    let each = count.div_ceil(jobs);
    let firsts = (0..jobs).map(|job| (job * each).min(count));
    let all = firsts.map(|first| (seed + first, each.min(count - first)));
    all.filter(|(_, count)| *count > 0).collect()
}

fn start(program: &Path, seed: u64, count: u64, counts: &Path) -> anyhow::Result<Child> {
    Command::new(program)
        .env("PLATEAU_STACKS_SEED", seed.to_string())
        .env("PLATEAU_STACKS_COUNT", count.to_string())
        .env("PLATEAU_STACKS_COUNTS", counts)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| program.display().to_string())
}

/// Builds the test; optimised for the machine, whose emulated CPU is slow.
fn build(root: &Path, is_optimised: bool) -> anyhow::Result<PathBuf> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args(["test", "--package", "device", "--test", "stacks", "--no-run", "--quiet", "--locked"])
        .arg("--message-format=json-render-diagnostics")
        .args(is_optimised.then_some("--release"))
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the test does not build");
    }
    executable(&String::from_utf8_lossy(&output.stdout)).context("cargo names no test stacks")
}

fn executable(messages: &str) -> Option<PathBuf> {
    let documents = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut ours = documents.filter(|document| document["target"]["name"] == "stacks");
    ours.find_map(|document| document["executable"].as_str().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_is_in_one_share() {
        for (seed, count, jobs) in [(1, 10, 4), (7, 3, 4), (1, 1, 1), (5, 100, 3)] {
            let all: Vec<u64> = shares(seed, count, jobs)
                .into_iter()
                .flat_map(|(first, count)| first..first + count)
                .collect();
            assert_eq!(all, (seed..seed + count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert!(parse(&["--count".into()]).is_err());
        assert!(parse(&["--fast".into()]).is_err());
        assert!(
            parse(&["--count".into(), "5".into(), "--in-vm".into()]).is_ok_and(|o| o.count == 5 && o.in_vm)
        );
    }
}
