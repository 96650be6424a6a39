//! `cargo xtask stacks`: random stacks of devices, files, mounts and locks, many of them (`crates/drive/tests/stacks.rs`).
//!
//! On this host it needs root and loop devices; `--in-vm` boots the machine of `vm-test`, whose kernel has device
//! mapper and md as well.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::vm_test;

const USAGE: &str = "usage: cargo xtask stacks [--count N] [--seed S] [--jobs N] [--in-vm]";

struct Options {
    count: u64,
    seed: u64,
    /// Processes at the same time; most of the time each waits for the kernel.
    jobs: u64,
    in_vm: bool,
}

fn parse(arguments: &[String]) -> anyhow::Result<Options> {
    let mut options = Options { count: 1000, seed: 1, jobs: 4, in_vm: false };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
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

/// Runs them; fails when one of them does.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let options = parse(arguments)?;
    let program = build(root)?;
    if options.in_vm {
        return vm_test::stacks(root, &program, options.count, options.seed);
    }
    let shares = shares(options.seed, options.count, options.jobs);
    let started: Vec<Child> =
        shares.iter().map(|&(seed, count)| start(&program, seed, count)).collect::<anyhow::Result<_>>()?;
    let mut failed = 0;
    for child in started {
        let output = child.wait_with_output()?;
        print!("{}", String::from_utf8_lossy(&output.stdout));
        failed += u32::from(!output.status.success());
    }
    if failed == 0 { Ok(()) } else { bail!("stacks failed; --count 1 --seed SEED repeats one") }
}

/// First seed and number of each process.
fn shares(seed: u64, count: u64, jobs: u64) -> Vec<(u64, u64)> {
    let each = count.div_ceil(jobs);
    let firsts = (0..jobs).map(|job| (job * each).min(count));
    let all = firsts.map(|first| (seed + first, each.min(count - first)));
    all.filter(|(_, count)| *count > 0).collect()
}

fn start(program: &Path, seed: u64, count: u64) -> anyhow::Result<Child> {
    Command::new(program)
        .env("PLATEAU_STACKS_SEED", seed.to_string())
        .env("PLATEAU_STACKS_COUNT", count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| program.display().to_string())
}

fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args(["test", "--package", "drive", "--test", "stacks", "--no-run", "--quiet", "--locked"])
        .arg("--message-format=json-render-diagnostics")
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
