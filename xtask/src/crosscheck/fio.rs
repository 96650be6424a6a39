//! fio, asked for the same workload.

use std::process::Command;

use anyhow::{Context as _, bail};
use record::{Access, Until, Workload};
use serde_json::Value;
use stdx::units::SECOND_NS;

/// IOPS, reads and writes together, of `workload` on `target`.
pub fn iops(target: &str, workload: &Workload) -> anyhow::Result<f64> {
    let output = Command::new("fio").args(arguments(target, workload)?).output().context("cannot run fio")?;
    if !output.status.success() {
        bail!("fio failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let document: Value = serde_json::from_slice(&output.stdout).context("fio printed no JSON")?;
    let job = &document["jobs"][0];
    let of = |direction: &str| job[direction]["iops"].as_f64().context("fio's JSON has no IOPS");
    Ok(of("read")? + of("write")?)
}

fn arguments(target: &str, workload: &Workload) -> anyhow::Result<Vec<String>> {
    let Until::DurationNs(length_ns) = workload.until else { bail!("fio is asked for timed cells only") };
    let order = if workload.access == Access::Random { "rand" } else { "" };
    let direction = match workload.read_percent {
        0 => "write",
        100 => "read",
        _ => "rw",
    };
    // Registered files and buffers, as our engine has them: else fio's own cost is what is compared.
    // Plain random data, as ours is: a device that compresses (zram) takes twice as long for fio's scrambled
    // buffers. fio's refill for each write is slow enough in older versions to be the limit in memory.
    Ok([
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
        format!("--runtime={}ms", length_ns * 1000 / SECOND_NS),
        format!("--size={}", workload.range.span().touched_bytes()),
        format!("--randseed={}", workload.seed >> 1),
    ])
    .collect())
}
