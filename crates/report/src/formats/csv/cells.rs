//! One row per workload, whether Plateau measured it or another tool reported it.

use record::{BelowLoad, Effort, Power, Segment};

use super::super::format::{Source, access};
use super::writer::{self, NAMED, optional};
use crate::facts::efficiency::{Efficiency, Meter, Quantity};
use crate::facts::observations::{Observation, observations};

const COLUMNS: &[&str] = &[
    "test",
    "job",
    "phase",
    "round",
    "in_window",
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
    let meter = Meter::of(&source.document.run, source.entries);
    let row = |observation: &Observation<'_>| {
        let fields = [
            workload(observation),
            amounts(observation),
            rates(observation),
            effort(observation.segment, observation.host_limited),
            power(observation.segment, &meter),
            on_file(observation.segment),
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
        observation.record.to_string(),
        observation.workload.clone(),
        access(observation.access).into(),
        optional(observation.block_bytes),
        observation.read_percent.to_string(),
        optional(observation.threads),
        optional(observation.queue_depth),
    ]
}

/// Times are empty for imported runs, and amounts unless the file has them by direction.
fn amounts(observation: &Observation<'_>) -> Vec<String> {
    let segment = observation.segment;
    let way = |of: fn(&Segment) -> u64, reported: Option<u64>| optional(segment.map(of).or(reported));
    let (read, write) = (observation.read, observation.write);
    vec![
        way(|segment| segment.start_ns, None),
        way(|segment| segment.end_ns.saturating_sub(segment.start_ns), None),
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

/// How much of the host's capability the workload used; empty for imported runs.
fn effort(segment: Option<&Segment>, host_limited: Option<bool>) -> Vec<String> {
    let effort = |of: fn(&Effort) -> u64| {
        optional(segment.and_then(|segment| segment.host.as_ref()).map(|host| of(&host.effort)))
    };
    vec![
        optional(segment.map(Segment::error_count)),
        optional(segment.and_then(|segment| segment.gap_before).map(|gap| gap.length_ns)),
        optional(segment.map(|segment| &segment.io_path)),
        optional(segment.and_then(Segment::host_share)),
        effort(|effort| effort.user_ns),
        effort(|effort| effort.system_ns),
        effort(|effort| effort.voluntary_switches),
        effort(|effort| effort.involuntary_switches),
        optional(host_limited),
    ]
}

/// The target after a workload, and the devices below it; empty if it is not a file.
fn on_file(segment: Option<&Segment>) -> Vec<String> {
    let on_file = segment.and_then(|segment| segment.on_file);
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

/// Power of a workload, and its performance per watt; empty if not measured.
fn power(segment: Option<&Segment>, meter: &Meter<'_>) -> Vec<String> {
    let measured = segment.and_then(|segment| segment.power.as_ref());
    let watts = |of: fn(&Power) -> u64| optional(measured.map(|power| of(power) as f64 / 1e6));
    let found = segment.and_then(|segment| meter.efficiency(segment));
    let quantity = |of: fn(&Efficiency) -> Quantity, factor: f64| {
        let quantity = found.as_ref().map(of);
        let uncertainty = quantity.and_then(|quantity| quantity.uncertainty());
        [quantity.map(|quantity| quantity.value), uncertainty]
            .map(|value| optional(value.map(|v| v * factor)))
    };
    let mut row = vec![
        watts(|power| power.mean_microwatts),
        watts(|power| power.min_microwatts),
        watts(|power| power.max_microwatts),
        optional(measured.map(|power| power.samples)),
    ];
    row.extend(quantity(|found| found.watts, 1.0));
    row.extend(quantity(|found| found.iops_per_watt, 1.0));
    row.extend(quantity(|found| found.megabytes_per_second_per_watt, 1e6));
    row
}
