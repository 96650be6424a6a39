//! Result file for TKperf's comparison tool: IOPS, latency and write saturation.
//!
//! Throughput is omitted because TKperf's matrix uses different block sizes (1024, 64, 8, 4 and 0.5 KiB). In this
//! format, rounds start at 0, figures are whole IOPS and microseconds, and elements contain JSON text.

use record::{MarkKind, Segment, Settings};
use serde_json::{Value, json};

use super::format::{self, Format, Make, Source};
use crate::facts::answers::{Answer, Phase, answers};
use charts::markup::escape;

/// The TKperf format.
pub(super) const FORMAT: Format = Format {
    name: "tkperf-xml",
    about: "IOPS, latency and WSAT as a TKperf result file",
    extensions: &["xml"],
    make: Make::File(document),
};

const IOPS_READS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
const IOPS_KIB: [u32; 8] = [1024, 128, 64, 32, 16, 8, 4, 0];
const LAT_READS: [u8; 3] = [100, 65, 0];
const LAT_KIB: [u32; 3] = [8, 4, 0];

fn document(source: Source<'_>) -> Result<Vec<u8>, String> {
    format::refuse_imported(source, FORMAT.name)?;
    let run = &source.document.run;
    let all = answers(source.entries);
    let tests: String =
        ["iops", "lat", "wsat"].iter().filter_map(|test| element(source, &all, test)).collect();
    if tests.is_empty() {
        return Err(
            "a TKperf file can only contain IOPS, latency and WSAT results, and this run has no completed \
             round of these tests"
                .into(),
        );
    }
    let target = &run.target;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "n.a.".into());
    // The format has no field for Plateau's marks, so they are in the free text, which readers of this format
    // show. Readers look up elements by name and ignore all others, such as `plateau`.
    let label =
        source.document.label().map(|label| format!("{label}: not a real device\n")).unwrap_or_default();
    let stated = source.document.marks(None).into_iter().filter(|mark| mark.kind != MarkKind::Simulated);
    let stated = stated.map(|mark| format!("{}: {}\n", mark.title, mark.details.join("; ")));
    let limited = source.document.outcomes.iter().filter_map(|outcome| {
        Some(format!("HOST-LIMITED: {} of {}\n", outcome.host_limited.as_ref()?, outcome.title))
    });
    let marks = label + &stated.chain(limited).collect::<String>();
    let device = format!(
        "{marks}Model Number:\t{}\nSerial Number:\t{}\nFirmware Revision:\t{}\n\
         Logical Sector size:\t{} bytes\nPhysical Sector size:\t{} bytes\n\
         device size with M = 1000*1000: {} MBytes\n",
        known(&target.model),
        known(&target.serial),
        known(&target.firmware),
        target.logical_block_bytes,
        target.physical_block_bytes,
        target.capacity_bytes / 1_000_000
    );
    let text = [
        leaf("testdate", &json!(run.created.strftime("%Y-%m-%d").to_string())),
        leaf("devinfo", &json!(device)),
        leaf("kernel", &json!(known(&run.host.kernel))),
        leaf("lsb", &json!(known(&run.host.os))),
        leaf("ioperfversion", &json!(format!("Plateau {}", run.plateau_version))),
        leaf("cmdline", &json!(run.command.join(" "))),
        leaf("plateau", &format::provenance(source.document)),
        tests,
    ];
    Ok(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plateau>\n{}</plateau>\n", text.concat())
        .into_bytes())
}

fn leaf(name: &str, value: &Value) -> String {
    format!("<{name}>{}</{name}>\n", escape(&value.to_string()))
}

fn element(source: Source<'_>, all: &[Answer<'_>], test: &str) -> Option<String> {
    let measured: Vec<&Answer<'_>> =
        all.iter().filter(|a| a.test == test && a.phase == Phase::Measure && a.round.is_some()).collect();
    let first = measured.first()?;
    let rounds = match test {
        "wsat" => Vec::new(),
        _ => by_round(&measured),
    };
    let has_maxima = source.document.run.scale_divisor() == 1;
    let times = if has_maxima { microseconds } else { microseconds_without_largest };
    let matrix = match test {
        "iops" => complete(rounds.iter().map(|round| grid(round, &IOPS_READS, &IOPS_KIB, iops))),
        "lat" => complete(rounds.iter().map(|round| grid(round, &LAT_READS, &LAT_KIB, times))),
        _ => saturation(&measured, times),
    };
    let count = matrix.as_array().map_or(0, Vec::len);
    if count == 0 {
        return None;
    }
    let workload = &first.segment.workload;
    let mut text = leaf("fioversion", &json!("n.a. (Plateau)"));
    text += &leaf("numjobs", &json!(workload.threads));
    text += &leaf("iodepth", &json!(workload.queue_depth));
    text += &leaf("runtime", &seconds(source.document.run.settings.as_ref()));
    text += &leaf("roundmat", &matrix);
    text += &steady(source, test, &measured);
    let last = if test == "wsat" { measured.len() } else { count } - 1;
    text += &leaf("rndnr", &json!(last));
    let name = if test == "wsat" { "writesat" } else { test };
    Some(format!("<{name}>\n{text}</{name}>\n"))
}

/// Returns a cell's length; as in TKperf, whole seconds are an integer.
fn seconds(settings: Option<&Settings>) -> Value {
    let Some(settings) = settings else { return Value::Null };
    let nanoseconds = settings.cell_ns;
    match nanoseconds % 1_000_000_000 {
        0 => json!(nanoseconds / 1_000_000_000),
        _ => json!(nanoseconds as f64 / 1e9),
    }
}

fn by_round<'a>(measured: &[&Answer<'a>]) -> Vec<Vec<&'a Segment>> {
    let mut rounds: Vec<(Option<u32>, Vec<&Segment>)> = Vec::new();
    for answer in measured {
        match rounds.last_mut() {
            Some((round, cells)) if *round == answer.round => cells.push(answer.segment),
            _ => rounds.push((answer.round, vec![answer.segment])),
        }
    }
    rounds.into_iter().map(|(_, cells)| cells).collect()
}

/// Returns the rounds before the first incomplete round.
fn complete(rounds: impl Iterator<Item = Option<Value>>) -> Value {
    Value::Array(rounds.map_while(|round| round).collect())
}

/// Returns one round as rows of mixes. Block sizes that the device does not support are missing at the end of
/// each row.
fn grid(cells: &[&Segment], reads: &[u8], kib: &[u32], value: fn(&Segment) -> Value) -> Option<Value> {
    let at = |read: u8, kib: u32| {
        let bytes = if kib == 0 { 512 } else { kib * 1024 };
        cells.iter().find(|s| s.workload.read_percent == read && s.workload.block_bytes == bytes)
    };
    let smallest = kib.last().copied()?;
    let has_smallest = cells.iter().any(|s| s.workload.block_bytes == 512);
    let sizes = kib.iter().copied().filter(|k| has_smallest || *k != smallest);
    reads
        .iter()
        .map(|read| sizes.clone().map(|size| Some(value(at(*read, size)?))).collect::<Option<Vec<_>>>())
        .collect::<Option<Vec<_>>>()
        .map(Value::from)
}

fn iops(segment: &Segment) -> Value {
    json!(segment.iops().round() as u64)
}

/// Returns the minimum, maximum and mean in us over all reads and writes.
fn microseconds(segment: &Segment) -> Value {
    let times = pts::response::merged([segment]);
    let us = |ns: f64| ns / 1000.0;
    json!([
        us(times.min().unwrap_or(0) as f64),
        us(times.max().unwrap_or(0) as f64),
        us(times.mean().unwrap_or(0.0))
    ])
}

/// Omits the maximum, which on a scaled simulated drive differs from the full-size drive's.
fn microseconds_without_largest(segment: &Segment) -> Value {
    let mut times = microseconds(segment);
    times[1] = Value::Null;
    times
}

fn saturation(measured: &[&Answer<'_>], times: fn(&Segment) -> Value) -> Value {
    let column = |value: fn(&Segment) -> Value| measured.iter().map(|a| value(a.segment)).collect::<Vec<_>>();
    json!([column(iops), column(times)])
}

fn steady(source: Source<'_>, test: &str, measured: &[&Answer<'_>]) -> String {
    let Some(outcome) = source.document.outcomes.iter().find(|o| o.test == test && test != "wsat") else {
        return String::new();
    };
    let Some((_, s)) = outcome.window.first() else { return String::new() };
    // TKperf uses microseconds; the window uses milliseconds.
    let unit = if test == "lat" { 1000.0 } else { 1.0 };
    let rounds: Vec<u32> = (s.first_round - 1..s.last_round).collect();
    let tracked = |a: &&&Answer<'_>| {
        let workload = &a.segment.workload;
        let inside = a.round.is_some_and(|round| (s.first_round..=s.last_round).contains(&round));
        inside && workload.read_percent == 0 && workload.block_bytes == 4096
    };
    let value = |a: &&Answer<'_>| match test {
        "lat" => a.segment.mean_latency_ms().unwrap_or(0.0) * 1000.0,
        _ => a.segment.iops(),
    };
    let values: Vec<f64> = measured.iter().filter(tracked).map(value).collect();
    let mut text = leaf("stdyrounds", &json!(rounds)) + &leaf("stdyvalues", &json!(values));
    // TKperf's fitted line counts rounds from 0.
    text += &leaf("stdyslope", &json!([s.slope * unit, (s.intercept + s.slope) * unit]));
    text += &leaf("stdyavg", &json!(s.mean * unit));
    text + &leaf("reachstdystate", &json!(s.steady))
}
