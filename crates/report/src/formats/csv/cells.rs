//! One row per workload, whether Plateau measured it or another tool reported it.

use record::{BelowLoad, CellPower, Efficiency, Segment, Uncertain};

use super::super::format::{Source, access};
use super::writer::{self, NAMED, optional};
use crate::facts::observations::{Observation, observations};

const COLUMNS: &[&str] = &[
    "test",
    "job",
    "phase",
    "round",
    "in_window",
    "in_results",
    "record",
    "workload",
    "access",
    "block_bytes",
    "read_percent",
    "threads",
    "queue_depth",
    "start_ns",
    "duration_ns",
    "read_ios",
    "write_ios",
    "read_bytes",
    "write_bytes",
    "iops",
    "bytes_per_second",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_p99_99_ns",
    "latency_p99_999_ns",
    "latency_max_ns",
    "errors",
    "gap_before_ns",
    "engine",
    "host_share",
    "user_ns",
    "system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "host_limited",
    "power_mean_watts",
    "power_min_watts",
    "power_max_watts",
    "power_samples",
    "attributed_watts",
    "attributed_watts_uncertainty",
    "iops_per_watt",
    "iops_per_watt_uncertainty",
    "bytes_per_second_per_watt",
    "bytes_per_second_per_watt_uncertainty",
    "file_allocated_bytes",
    "file_extents",
    "below_read_ios",
    "below_read_bytes",
    "below_write_ios",
    "below_write_bytes",
    "below_flushes",
];

pub(super) fn table(source: Source<'_>) -> Result<Vec<u8>, String> {
    let row = |observation: &Observation<'_>| {
        let fields = [
            workload(observation),
            amounts(observation),
            rates(observation),
            effort(observation),
            power(observation.power.as_ref()),
            on_file(observation),
        ];
        (fields.concat(), NAMED.to_owned())
    };
    writer::table(source, observations(&source.judged()).iter().map(row), COLUMNS)
}

fn workload(observation: &Observation<'_>) -> Vec<String> {
    vec![
        observation.test.to_owned(),
        optional(observation.job),
        optional(observation.phase),
        optional(observation.round),
        observation.in_window.to_string(),
        optional(observation.in_results),
        observation.record.to_string(),
        observation.workload.clone(),
        access(observation.access).into(),
        optional(observation.block_bytes),
        observation.read_percent.to_string(),
        optional(observation.threads),
        optional(observation.queue_depth),
    ]
}

/// Times and amounts are empty for imported runs whose file does not contain them.
fn amounts(observation: &Observation<'_>) -> Vec<String> {
    let segment = observation.segment;
    let way = |of: fn(&Segment) -> u64, reported: Option<u64>| optional(segment.map(of).or(reported));
    let (read, write) = (observation.read, observation.write);
    vec![
        optional(observation.driven.start_ns),
        optional(observation.driven.duration_ns),
        way(|segment| segment.read.ios, read.map(|way| way.ios)),
        way(|segment| segment.write.ios, write.map(|way| way.ios)),
        way(|segment| segment.read.bytes, read.map(|way| way.bytes)),
        way(|segment| segment.write.bytes, write.map(|way| way.bytes)),
    ]
}

fn rates(observation: &Observation<'_>) -> Vec<String> {
    let times = &observation.times;
    [observation.iops, observation.bytes_per_second, times.mean]
        .into_iter()
        .chain(times.percentiles)
        .chain([times.max])
        .map(optional)
        .collect()
}

/// Returns how much of the host's capability the workload used; empty if that is not known.
fn effort(observation: &Observation<'_>) -> Vec<String> {
    let driven = &observation.driven;
    vec![
        optional(driven.errors),
        optional(driven.gap_before_ns),
        optional(driven.engine.as_ref()),
        optional(driven.host_share),
        optional(driven.user_ns),
        optional(driven.system_ns),
        optional(driven.voluntary_switches),
        optional(driven.involuntary_switches),
        optional(observation.host_limited),
    ]
}

/// Returns the file after a workload, and the I/O of the devices below it; empty if the target is not a file.
fn on_file(observation: &Observation<'_>) -> Vec<String> {
    let on_file = observation.on_file;
    let below = |of: fn(&BelowLoad) -> u64| {
        optional(on_file.and_then(|on_file| on_file.below).map(|below| of(&below)))
    };
    vec![
        optional(on_file.map(|on_file| on_file.allocated_bytes)),
        optional(on_file.and_then(|on_file| on_file.extents)),
        below(|below| below.read_ios),
        below(|below| below.read_bytes),
        below(|below| below.write_ios),
        below(|below| below.write_bytes),
        below(|below| below.flushes),
    ]
}

/// Returns a workload's power and performance per watt; empty if not measured.
fn power(measured: Option<&CellPower>) -> Vec<String> {
    let watts = |of: fn(&CellPower) -> f64| optional(measured.map(of));
    let found = measured.and_then(|power| power.efficiency);
    let quantity = |of: fn(&Efficiency) -> Uncertain| {
        let quantity = found.as_ref().map(of);
        [quantity.map(|quantity| quantity.value), quantity.and_then(|quantity| quantity.uncertainty)]
            .map(optional)
    };
    let mut row = vec![
        watts(|power| power.mean_watts),
        watts(|power| power.min_watts),
        watts(|power| power.max_watts),
        optional(measured.map(|power| power.samples)),
    ];
    row.extend(quantity(|found| found.watts));
    row.extend(quantity(|found| found.iops_per_watt));
    row.extend(quantity(|found| found.bytes_per_second_per_watt));
    row
}
