//! Measures the cost of commands of the release binary.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::ensure;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use super::results::median;

/// Number of times a command is run; its cost is the median over these runs.
pub const RUNS: usize = 5;
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Cost of a command.
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
    let before = cpu_of_children()?;
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut resident_mib = 0.0;
    // Another thread waits, because this one would notice the end only when it looks at the memory again.
    let (status, elapsed_seconds) = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| (child.wait(), started.elapsed().as_secs_f64()));
        while !waiting.is_finished() {
            resident_mib = peak_kib(&status_file).map_or(resident_mib, |kib| kib / 1024.0);
            std::thread::sleep(LOOK_EVERY);
        }
        waiting.join().expect("waiting does not panic")
    });
    let status = status?;
    ensure!(status.success(), "plateau ended with {status}");
    Ok(Costs { cpu_seconds: cpu_of_children()? - before, elapsed_seconds, resident_mib })
}

fn peak_kib(status_file: &str) -> Option<f64> {
    let text = std::fs::read_to_string(status_file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Returns the CPU time in s of all child processes that have ended, including all of their threads.
fn cpu_of_children() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok([usage.user_time(), usage.system_time()].iter().map(|time| time.num_microseconds() as f64 / 1e6).sum())
}
