//! Every workload with its results, in one form for measured and imported runs.

use pts::response::{self, Percentile};
use record::{
    Access, CellPower, DirectionReading, Driven, Effort, Entry, Event, ImportedTest, OnFile, Reading,
    Segment, notation,
};
use stdx::units::block_size;

use crate::facts::answers::{Answer, Phase, answers, percentile_ns};
use crate::facts::efficiency::Meter;
use crate::facts::judged::{self, JudgedRun};

/// One workload with its results. Values that an imported file does not contain are None.
pub(crate) struct Observation<'a> {
    /// Sequence number of the journal record.
    pub record: u64,
    pub test: &'a str,
    /// Name of an imported job.
    pub job: Option<&'a str>,
    /// Purpose of the workload.
    pub phase: Option<&'a str>,
    pub round: Option<u32>,
    /// Whether the workload belongs to the measurement window that was evaluated.
    pub in_window: bool,
    /// Whether the results of the test are based on the workload.
    pub in_results: Option<bool>,
    pub workload: String,
    pub access: Access,
    /// None if the sizes of I/Os differ.
    pub block_bytes: Option<u32>,
    pub read_percent: u8,
    pub threads: Option<u16>,
    pub queue_depth: Option<u16>,
    pub iops: Option<f64>,
    pub bytes_per_second: Option<f64>,
    /// Response times of reads and writes combined.
    pub times: ResponseTimes,
    pub ios: Option<u64>,
    /// Reads and writes as an imported file reports them.
    pub read: Option<&'a DirectionReading>,
    pub write: Option<&'a DirectionReading>,
    pub host_limited: Option<bool>,
    pub driven: Driven,
    pub power: Option<CellPower>,
    pub on_file: Option<OnFile>,
    /// The result from the drive; None if the run is imported.
    pub segment: Option<&'a Segment>,
}

/// Response times in ns; None if there are too few I/Os, or if an imported file does not contain them.
#[derive(Default)]
pub(crate) struct ResponseTimes {
    pub mean: Option<f64>,
    /// 50 %, 99 %, 99.9 %, 99.99 % and 99.999 %.
    pub percentiles: [Option<f64>; 5],
    pub max: Option<f64>,
}

/// The percentiles, as the share of slower I/Os in parts per million.
pub(crate) const BEYOND_PPM: [u32; 5] = [500_000, 10_000, 1_000, 100, 10];

/// Returns all observations of a run in journal order.
pub(crate) fn observations<'a>(run: &JudgedRun<'a>) -> Vec<Observation<'a>> {
    if run.run.origin.is_some() {
        return run.entries.iter().flat_map(|entry| imported(run, entry)).collect();
    }
    let meter = Meter::of(run.run, run.entries);
    answers(run.entries).iter().map(|answer| measured(run, answer, &meter)).collect()
}

fn measured<'a>(run: &JudgedRun<'a>, answer: &Answer<'a>, meter: &Meter<'_>) -> Observation<'a> {
    let segment = answer.segment;
    let workload = &segment.workload;
    let times = response::merged([segment]);
    Observation {
        record: answer.record,
        test: answer.test,
        job: None,
        phase: Some(answer.phase.name()),
        round: answer.round,
        in_window: judged::in_window(run.outcomes, answer),
        in_results: Some(answer.phase == Phase::Measure && judged::counts(run.outcomes, answer)),
        workload: workload.to_string(),
        access: workload.access,
        block_bytes: Some(workload.block_bytes),
        read_percent: workload.read_percent,
        threads: Some(workload.threads),
        queue_depth: Some(workload.queue_depth),
        iops: Some(segment.iops()),
        bytes_per_second: Some(segment.megabytes_per_second() * 1e6),
        times: ResponseTimes {
            mean: times.mean(),
            percentiles: BEYOND_PPM.map(|beyond| percentile_ns(&times, beyond).map(|ns| ns as f64)),
            // A scaled drive's longest stall differs from the full-size drive's.
            max: times.max().filter(|_| run.run.scale_divisor() == 1).map(|ns| ns as f64),
        },
        ios: Some(segment.read.ios + segment.write.ios),
        read: None,
        write: None,
        host_limited: Some(segment.is_host_limited()),
        driven: driven(segment),
        power: meter.of_cell(segment),
        on_file: segment.on_file,
        segment: Some(segment),
    }
}

fn driven(segment: &Segment) -> Driven {
    let host = segment.host.as_ref();
    let effort = |of: fn(&Effort) -> u64| host.map(|host| of(&host.effort));
    Driven {
        start_ns: Some(segment.start_ns),
        duration_ns: Some(segment.end_ns.saturating_sub(segment.start_ns)),
        errors: Some(segment.error_count()),
        engine: Some(segment.io_path.to_string()),
        gap_before_ns: segment.gap_before.map(|gap| gap.length_ns),
        host_share: segment.host_share(),
        user_ns: effort(|effort| effort.user_ns),
        system_ns: effort(|effort| effort.system_ns),
        voluntary_switches: effort(|effort| effort.voluntary_switches),
        involuntary_switches: effort(|effort| effort.involuntary_switches),
    }
}

fn imported<'a>(run: &JudgedRun<'a>, entry: &'a Entry) -> Vec<Observation<'a>> {
    let Event::Imported(test) = &entry.event else { return Vec::new() };
    test.readings.iter().map(|reading| of_reading(run, entry.seq, test, reading)).collect()
}

fn of_reading<'a>(
    run: &JudgedRun<'a>,
    record: u64,
    test: &'a ImportedTest,
    reading: &'a Reading,
) -> Observation<'a> {
    let (access, read_percent) = (reading.access, reading.read_percent);
    let window = run.outcomes.iter().find(|outcome| outcome.test == test.test);
    let window =
        window.and_then(|outcome| outcome.window.first()).map(|(_, s)| (s.first_round, s.last_round));
    let (first, last) = window.or(test.window).unwrap_or((1, 0));
    let stated = reading.exported.as_deref();
    let block_bytes = Some(reading.block_bytes).filter(|bytes| *bytes > 0);
    let size = block_bytes.map_or_else(|| "mixed sizes".to_owned(), |bytes| block_size(bytes.into()));
    Observation {
        record,
        test: &test.test,
        job: reading.name.as_deref(),
        phase: reading.phase.as_deref(),
        round: reading.round,
        // A reading without a round is a mean over the window.
        in_window: reading
            .in_window
            .unwrap_or_else(|| reading.round.is_none_or(|round| (first..=last).contains(&round))),
        in_results: stated.and_then(|cell| cell.in_results),
        workload: stated
            .and_then(|cell| cell.workload.clone())
            .unwrap_or_else(|| notation(access, &size, read_percent)),
        access,
        block_bytes,
        read_percent,
        threads: reading.threads.or(test.threads),
        queue_depth: reading.queue_depth.or(test.queue_depth),
        iops: reading.iops,
        bytes_per_second: reading.bytes_per_second,
        times: ResponseTimes {
            mean: reading.latency_mean_ns,
            percentiles: BEYOND_PPM.map(|beyond| percentile_of(reading, beyond)),
            max: reading.latency_max_ns,
        },
        ios: reading.ios,
        read: reading.read.as_ref(),
        write: reading.write.as_ref(),
        // Only Plateau's own exports contain host limits.
        host_limited: test
            .exported
            .as_ref()
            .filter(|exported| !exported.lacks_host_limits)
            .map(|_| reading.host_limited),
        driven: stated.map(|cell| cell.driven.clone()).unwrap_or_default(),
        power: stated.and_then(|cell| cell.power),
        on_file: stated.and_then(|cell| cell.on_file),
        segment: None,
    }
}

/// Returns a percentile from the reported histogram or, if there is none, as reported.
fn percentile_of(reading: &Reading, beyond_ppm: u32) -> Option<f64> {
    if let Some(record::Times(histogram)) = &reading.times {
        return percentile_ns(histogram, beyond_ppm).map(|ns| ns as f64);
    }
    reported_percentile_ns(&reading.percentiles_ns, reading.ios, beyond_ppm)
}

/// Returns a percentile as an imported file reports it; None if it is known that fewer than ten I/Os lie beyond
/// it.
pub(crate) fn reported_percentile_ns(
    percentiles_ns: &[(f64, f64)],
    ios: Option<u64>,
    beyond_ppm: u32,
) -> Option<f64> {
    let has_enough = ios.is_none_or(|ios| Percentile { name: "", beyond_ppm }.is_known_from(ios));
    let share = 100.0 - f64::from(beyond_ppm) / 1e4;
    let found = percentiles_ns.iter().find(|(percent, _)| (percent - share).abs() < 1e-9);
    found.filter(|_| has_enough).map(|(_, ns)| *ns)
}
