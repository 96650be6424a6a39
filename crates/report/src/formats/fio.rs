//! All workloads as jobs in fio's JSON output format, for scripts that read it.
//!
//! Order and names follow `fio --output-format=json`. Keys without a counterpart in the journal (disk utilisation,
//! I/O depths, page faults) are omitted rather than set to zero. Data for which fio has no key is under `plateau`.

use record::{Access, Direction, Segment, Until};
use serde_json::{Map, Value, json};
use stdx::Histogram;

use super::format::{self, Format, Make, Source};
use crate::facts::answers::{Answer, answers, percentile_ns};
use crate::facts::judged;

/// The fio format.
pub(super) const FORMAT: Format = Format {
    name: "fio-json",
    about: "every workload as a job in the layout of fio's JSON output",
    extensions: &[],
    make: Make::File(document),
};

/// fio's percentile names, and I/Os per million beyond them.
const PERCENTILES: &[(&str, u32)] = &[
    ("1.000000", 990_000),
    ("5.000000", 950_000),
    ("10.000000", 900_000),
    ("20.000000", 800_000),
    ("30.000000", 700_000),
    ("40.000000", 600_000),
    ("50.000000", 500_000),
    ("60.000000", 400_000),
    ("70.000000", 300_000),
    ("80.000000", 200_000),
    ("90.000000", 100_000),
    ("95.000000", 50_000),
    ("99.000000", 10_000),
    ("99.500000", 5_000),
    ("99.900000", 1_000),
    ("99.950000", 500),
    ("99.990000", 100),
    ("99.999000", 10),
];

fn document(source: Source<'_>) -> Result<Vec<u8>, String> {
    format::refuse_imported(source, FORMAT.name)?;
    let run = &source.document.run;
    let has_maxima = run.scale_divisor() == 1;
    let jobs: Vec<Value> = answers(source.entries)
        .iter()
        .enumerate()
        .map(|(i, answer)| job(source, i, answer, has_maxima))
        .collect();
    let document = json!({
        "fio version": format!("plateau-{}", run.plateau_version),
        "plateau": format::provenance(source.document),
        "global options": { "filename": run.target.path, "direct": "1", "randrepeat": "1", "group_reporting": "" },
        "jobs": jobs,
    });
    serde_json::to_vec_pretty(&document).map_err(|error| error.to_string())
}

fn job(source: Source<'_>, index: usize, answer: &Answer<'_>, has_maxima: bool) -> Value {
    let Answer { test, phase, round, segment, .. } = answer;
    let round = round.map_or_else(String::new, |round| format!(" round {round}"));
    let mut job = json!({
        "jobname": format!("{test} {}{round}: {}", phase.name(), segment.workload),
        "groupid": index,
        "error": 0,
        "total_err": segment.error_count(),
        "job options": options(segment),
        "read": direction(&segment.read, segment, has_maxima),
        "write": direction(&segment.write, segment, has_maxima),
        "plateau": {
            "phase": phase.name(),
            "round": answer.round,
            "in_window": judged::in_window(&source.document.outcomes, answer),
            "host_share": segment.host_share(),
            "host_limited": segment.is_host_limited(),
        },
    });
    if let Some(host) = &segment.host {
        // As in fio: relative to the total time of all threads.
        let available_ns = (segment.seconds() * 1e9 * f64::from(segment.workload.threads)).max(1.0);
        let percent = |ns: u64| ns as f64 / available_ns * 100.0;
        let effort = &host.effort;
        job["usr_cpu"] = percent(effort.user_ns).into();
        job["sys_cpu"] = percent(effort.system_ns).into();
        job["ctx"] = (effort.voluntary_switches + effort.involuntary_switches).into();
    }
    job
}

fn options(segment: &Segment) -> Value {
    let workload = &segment.workload;
    let (pure, mixed) = match workload.access {
        Access::Random => (["randwrite", "randread"], "randrw"),
        Access::Sequential => (["write", "read"], "rw"),
    };
    let mut options = Map::new();
    let mut set = |key: &str, value: String| options.insert(key.into(), value.into());
    match workload.read_percent {
        0 => drop(set("rw", pure[0].into())),
        100 => drop(set("rw", pure[1].into())),
        read => {
            set("rw", mixed.into());
            set("rwmixread", read.to_string());
        }
    }
    set("bs", workload.block_bytes.to_string());
    set("numjobs", workload.threads.to_string());
    set("iodepth", workload.queue_depth.to_string());
    set("size", workload.range.span().touched_bytes().to_string());
    match workload.until {
        Until::DurationNs(ns) => drop(set("runtime", format!("{}ms", ns / 1_000_000))),
        Until::AmountBytes(bytes) => drop(set("io_size", bytes.to_string())),
    }
    Value::Object(options)
}

fn direction(direction: &Direction, segment: &Segment, has_maxima: bool) -> Value {
    let seconds = segment.seconds();
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let bytes_per_second = per_second(direction.bytes);
    json!({
        "io_bytes": direction.bytes,
        "io_kbytes": direction.bytes / 1024,
        "bw_bytes": bytes_per_second as u64,
        "bw": (bytes_per_second / 1024.0) as u64,
        "iops": per_second(direction.ios),
        "runtime": segment.end_ns.saturating_sub(segment.start_ns) / 1_000_000,
        "total_ios": direction.ios,
        "lat_ns": times(&direction.latency, has_maxima),
    })
}

/// Omits the standard deviation, which cannot be computed exactly from a histogram with buckets, and percentiles
/// for which there are too few I/Os. The maximum of a scaled simulated drive is null because it differs from
/// the full-size drive's.
fn times(histogram: &Histogram, has_maxima: bool) -> Value {
    let percentiles: Map<String, Value> = PERCENTILES
        .iter()
        .filter_map(|(name, ppm)| Some(((*name).to_owned(), percentile_ns(histogram, *ppm)?.into())))
        .collect();
    json!({
        "min": histogram.min().unwrap_or(0),
        "max": has_maxima.then(|| histogram.max().unwrap_or(0)),
        "mean": histogram.mean().unwrap_or(0.0),
        "N": histogram.count(),
        "percentile": percentiles,
    })
}
