//! Resource usage of this process.

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time that this thread has used, in seconds.
pub fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the resident memory of this process.
pub fn resident_mib() -> anyhow::Result<f64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().context("VmRSS")?;
    Ok(kib / 1024.0)
}
