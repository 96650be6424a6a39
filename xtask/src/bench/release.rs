//! Costs of commands of the release binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use stdx::units::SECOND_NS;

use super::results::median;

/// Number of runs of a command, of whose costs the median is taken.
pub const RUNS: usize = 5;
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Builds the release binary and returns its path.
pub fn built(root: &Path) -> anyhow::Result<PathBuf> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--package", "plateau"])
        .current_dir(root)
        .status()?;
    ensure!(status.success(), "plateau cannot be built");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/plateau"))
}

/// What a command costs.
pub struct Costs {
    pub cpu_seconds: f64,
    pub elapsed_seconds: f64,
    pub resident_mib: f64,
}

/// Returns medians over several runs of a command.
pub fn costs(binary: &Path, arguments: impl Fn(&mut Command)) -> anyhow::Result<Costs> {
    let mut all = Vec::new();
    for _ in 0..RUNS {
        let mut command = Command::new(binary);
        arguments(&mut command);
        all.push(watched(&mut command)?);
    }
    Ok(Costs {
        cpu_seconds: median(all.iter().map(|c| c.cpu_seconds)),
        elapsed_seconds: median(all.iter().map(|c| c.elapsed_seconds)),
        resident_mib: median(all.iter().map(|c| c.resident_mib)),
    })
}

/// Runs a command to completion while sampling its memory and CPU time.
pub fn watched(command: &mut Command) -> anyhow::Result<Costs> {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let mut costs = Costs { cpu_seconds: 0.0, elapsed_seconds: 0.0, resident_mib: 0.0 };
    loop {
        let folder = format!("/proc/{}", child.id());
        if let Some(kib) = peak_kib(&folder) {
            costs.resident_mib = kib / 1024.0;
        }
        if let Some(seconds) = cpu_seconds(&folder) {
            costs.cpu_seconds = seconds;
        }
        costs.elapsed_seconds = started.elapsed().as_secs_f64();
        match child.try_wait()? {
            None => std::thread::sleep(LOOK_EVERY),
            Some(status) if status.success() => return Ok(costs),
            Some(status) => bail!("plateau ended with {status}"),
        }
    }
}

fn peak_kib(folder: &str) -> Option<f64> {
    let text = std::fs::read_to_string(format!("{folder}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Reads the CPU time from `schedstat`, which is in ns; the ticks of `stat` are too coarse.
fn cpu_seconds(folder: &str) -> Option<f64> {
    let text = std::fs::read_to_string(format!("{folder}/schedstat")).ok()?;
    let ns: f64 = text.split_whitespace().next()?.parse().ok()?;
    (ns > 0.0).then_some(ns / SECOND_NS as f64)
}
