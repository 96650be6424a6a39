//! Runs fio with the same workload.
//!
//! At the end of its runtime, fio waits for all I/Os in flight and reports all of them as completed when the
//! last one completes, which can double the latency of a full queue of I/Os. fio's histogram includes these
//! I/Os, and in a short cell they determine the 99th percentile. Therefore, this module reads fio's per-I/O log
//! instead, up to the end of the runtime. Our engine likewise does not count later I/Os.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use record::{Access, Until, Workload};
use serde_json::Value;
use stdx::units::SECOND_NS;

/// fio's results for a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FioRun {
    /// Reads plus writes.
    pub iops: f64,
    /// Median and 99th percentile of total latency in ns, for the direction that has more I/Os. Like our
    /// figures, they include the system call that submits the I/O. They are NaN if no I/O completed in time.
    pub percentiles_ns: [f64; 2],
    /// Whether that direction is reads.
    pub of_reads: bool,
}

/// Runs `workload` on `target` with fio.
pub fn run(target: &str, workload: &Workload) -> anyhow::Result<FioRun> {
    let Until::DurationNs(length_ns) = workload.until else { bail!("only timed cells can be run with fio") };
    let length_ms = length_ns * 1000 / SECOND_NS;
    let folder = tempfile::tempdir().context("no folder for fio's log")?;
    let log = folder.path().join("cell");
    let output = Command::new("fio")
        .args(arguments(target, workload, length_ms, &log))
        .output()
        .context("cannot run fio")?;
    if !output.status.success() {
        bail!("fio failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let document: Value = serde_json::from_slice(&output.stdout).context("fio printed no JSON")?;
    let log = std::fs::read_to_string(folder.path().join("cell_lat.log")).context("fio wrote no log")?;
    let of_reads = workload.read_percent >= 50;
    Ok(FioRun { iops: iops(&document)?, percentiles_ns: percentiles(&log, of_reads, length_ms)?, of_reads })
}

fn iops(document: &Value) -> anyhow::Result<f64> {
    let job = &document["jobs"][0];
    let of = |direction: &str| job[direction]["iops"].as_f64().context("fio's JSON has no IOPS");
    Ok(of("read")? + of("write")?)
}

/// Returns the median and 99th-percentile latency of the I/Os that completed in the first `length_ms`. Each log line
/// starts with the completion time in ms, the latency in ns, and 0 for a read or 1 for a write; further fields are
/// ignored.
fn percentiles(log: &str, of_reads: bool, length_ms: u64) -> anyhow::Result<[f64; 2]> {
    let mut latencies = Vec::new();
    for line in log.lines() {
        let mut numbers = line.split(',').map(|word| word.trim().parse::<u64>());
        let (Some(Ok(ended_ms)), Some(Ok(latency_ns)), Some(Ok(direction))) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            bail!("fio's log contains a line that does not describe an I/O: {line}");
        };
        if ended_ms < length_ms && (direction == 0) == of_reads {
            latencies.push(latency_ns);
        }
    }
    latencies.sort_unstable();
    let rank = |percent: usize| (latencies.len() * percent).div_ceil(100).saturating_sub(1);
    Ok([50, 99].map(|percent| latencies.get(rank(percent)).map_or(f64::NAN, |ns| *ns as f64)))
}

fn arguments(target: &str, workload: &Workload, length_ms: u64, log: &Path) -> Vec<String> {
    let order = if workload.access == Access::Random { "rand" } else { "" };
    let direction = match workload.read_percent {
        0 => "write",
        100 => "read",
        _ => "rw",
    };
    // Files and buffers are registered, as in our engine; otherwise, the comparison would measure fio's own
    // overhead. Data is plain random data, as in our engine: a device that compresses data (zram) takes twice
    // as long with fio's scrambled buffers. In older fio versions, refilling the buffer for each write limits
    // the rate on memory-backed targets.
    [
        "--name=cell",
        "--direct=1",
        "--ioengine=io_uring",
        "--fixedbufs=1",
        "--registerfiles=1",
        "--norandommap",
        "--time_based",
        "--group_reporting",
        "--fallocate=none",
        "--scramble_buffers=0",
        "--per_job_logs=0",
        "--output-format=json",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([
        format!("--filename={target}"),
        format!("--rw={order}{direction}"),
        format!("--rwmixread={}", workload.read_percent),
        format!("--bs={}", workload.block_bytes),
        format!("--iodepth={}", workload.queue_depth),
        format!("--numjobs={}", workload.threads),
        format!("--runtime={length_ms}ms"),
        format!("--write_lat_log={}", log.display()),
        format!("--size={}", workload.range.span().touched_bytes()),
        format!("--randseed={}", workload.seed >> 1),
    ])
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ios_completed_after_the_deadline_are_omitted() {
        let mut log: String = (1..=200).map(|i| format!("{i}, {}, {}, 4096, 0\n", i * 10, i % 2)).collect();
        assert_eq!(percentiles(&log, true, 1000).unwrap(), [1000.0, 1980.0]);
        assert_eq!(percentiles(&log, false, 1000).unwrap(), [990.0, 1970.0]);
        let all = percentiles(&log, true, 1000).unwrap();
        for late in 1000..1032 {
            log += &format!("{late}, 999999, 0, 4096, 0\n");
        }
        assert_eq!(percentiles(&log, true, 1000).unwrap(), all);
        assert!(percentiles("", true, 1000).unwrap().iter().all(|p| p.is_nan()));
        assert!(percentiles("1, two, 0\n", true, 1000).is_err());
    }

    #[test]
    fn iops_are_those_of_both_directions() {
        let text = r#"{"jobs":[{"read":{"iops":650.0},"write":{"iops":350.0}}]}"#;
        assert_eq!(iops(&serde_json::from_str(text).unwrap()).unwrap(), 1000.0);
        assert!(iops(&serde_json::from_str("{}").unwrap()).is_err());
    }
}
