//! fio, asked for the same workload.

use std::process::Command;

use anyhow::{Context as _, bail};
use record::{Access, Until, Workload};
use serde_json::Value;
use stdx::units::SECOND_NS;

/// What fio says of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Reads and writes together.
    pub iops: f64,
    /// Median and 99th percentile of its total latency in ns, which like ours begins before the call that submits, of
    /// the direction with more I/Os: fio has no percentiles of both together.
    pub percentiles_ns: [f64; 2],
    /// Whether that direction is reads.
    pub of_reads: bool,
}

/// `workload` on `target`, by fio.
pub fn run(target: &str, workload: &Workload) -> anyhow::Result<Seen> {
    let output = Command::new("fio").args(arguments(target, workload)?).output().context("cannot run fio")?;
    if !output.status.success() {
        bail!("fio failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    seen(&serde_json::from_slice(&output.stdout).context("fio printed no JSON")?, workload)
}

fn seen(document: &Value, workload: &Workload) -> anyhow::Result<Seen> {
    let job = &document["jobs"][0];
    let iops = |direction: &str| job[direction]["iops"].as_f64().context("fio's JSON has no IOPS");
    let of_reads = workload.read_percent >= 50;
    let percentiles = &job[if of_reads { "read" } else { "write" }]["lat_ns"]["percentile"];
    // A cell in which not one I/O was completed has none.
    let percentile = |name: &str| percentiles[name].as_f64().unwrap_or(f64::NAN);
    Ok(Seen {
        iops: iops("read")? + iops("write")?,
        percentiles_ns: [percentile("50.000000"), percentile("99.000000")],
        of_reads,
    })
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
        "--lat_percentiles=1",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_direction_with_more_ios() {
        let text = r#"{"jobs":[{
            "read":{"iops":650.0,"lat_ns":{"percentile":{"50.000000":100,"99.000000":900}}},
            "write":{"iops":350.0,"lat_ns":{"percentile":{"50.000000":200,"99.000000":800}}}}]}"#;
        let workload = |read_percent: u8| -> Workload {
            let text = format!(
                r#"{{"access":"random","read_percent":{read_percent},"block_bytes":4096,"threads":1,"queue_depth":1,
                "range":{{"start_bytes":0,"segments":1,"segment_bytes":1048576,"stride_bytes":1048576}},
                "data_pattern":"random","until":{{"duration_ns":1000000000}},"seed":1}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let document: Value = serde_json::from_str(text).unwrap();
        let of = |read_percent| seen(&document, &workload(read_percent)).unwrap();
        assert_eq!(of(65), Seen { iops: 1000.0, percentiles_ns: [100.0, 900.0], of_reads: true });
        assert_eq!(of(5).percentiles_ns, [200.0, 800.0]);
    }
}
