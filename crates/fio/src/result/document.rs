//! The JSON result of a load, with fio's names where fio has an equivalent.

use engine::VerifyReport;
use jiff::Timestamp;
use pts::response::Percentile;
use record::{Ceiling, ClockFacts, Direction, IoPriority, PathChoice, Synced, TargetFacts, Workload};
use serde::{Serialize, Serializer};
use stdx::Histogram;

use super::origin::{Host, Origin, Start};
use super::part::{Part, ToleratedErrors, per_second};
use super::samples::Rates;
use super::terse::{BINS_PER_UNIT, BOUNDS_NS, DEPTHS, shares};
use super::times::{BEYOND_PPM, counted, stddev};
use crate::depth_search::DepthSearch;
use crate::steady::SteadyDocument;

/// The results of a load.
#[derive(Serialize)]
pub struct Document<'a> {
    jobs: Vec<Job<'a>>,
    #[serde(rename = "fio version")]
    version: String,
    /// End of the last job, in seconds and in milliseconds since 1970, and as text; null if all targets are simulated.
    timestamp: Option<i64>,
    timestamp_ms: Option<i64>,
    time: Option<String>,
    /// The options that were set for all jobs. They are also among the options of each job.
    #[serde(rename = "global options")]
    global: InOrder<&'a str>,
    host: &'a Host,
    start: Start,
    /// The host's ceiling; `None` if all targets are simulated.
    ceiling: Option<&'a Ceiling>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    failed: Option<Failed>,
}

/// The error fields common to all commands.
#[derive(Serialize)]
struct Failed {
    error: String,
    exit_code: u8,
    run: Option<&'static str>,
}

#[derive(Serialize)]
struct Job<'a> {
    jobname: &'a str,
    groupid: usize,
    /// As in fio, the first error of a job that continued after it.
    error: i32,
    /// Seconds until the end: the job has ended.
    eta: u64,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: InOrder<&'a str>,
    target: &'a TargetFacts,
    workloads: Vec<&'a Workload>,
    engines: Vec<String>,
    /// How the engine of each workload was chosen; null if it was requested, and for simulated drives.
    engine_choices: Vec<Option<&'a PathChoice>>,
    /// Thread placement for each workload, or the reason why its threads were not pinned; empty for simulated
    /// drives.
    placement: Vec<&'a str>,
    seconds: f64,
    /// Start and end of the measurement according to the host's wall clock; null for simulated drives.
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    read: Way,
    write: Way,
    trim: Way,
    sync: Syncs,
    #[serde(skip_serializing_if = "Option::is_none")]
    steadystate: Option<SteadyDocument<'a>>,
    cpu: Option<Cpu>,
    /// Lengths of the measurements of all clones combined, in ms.
    job_runtime: u64,
    /// CPU time in percent, as the mean per clone, and context switches.
    usr_cpu: Option<f64>,
    sys_cpu: Option<f64>,
    ctx: Option<u64>,
    /// Page faults of the load's threads, with and without I/O.
    majf: Option<u64>,
    minf: Option<u64>,
    /// Percentage of I/Os by depth; all are counted at the requested depth.
    iodepth_level: InOrder<f64>,
    /// Percentage of I/Os with response times below this key, but not below the previous key.
    latency_ns: InOrder<f64>,
    latency_us: InOrder<f64>,
    latency_ms: InOrder<f64>,
    /// The queue depth, and the search for it; without one, fio writes a target of 0 as well.
    latency_depth: u16,
    latency_target: u64,
    latency_percentile: f64,
    latency_window: u64,
    host_share: Option<f64>,
    host_limited: bool,
    /// Average number of outstanding I/Os divided by the requested depth, as the minimum over the workloads;
    /// null if not meaningful.
    depth_share: Option<f64>,
    clock: Option<&'a ClockFacts>,
    verify: Option<Verify>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone_resets: Option<u64>,
    #[serde(flatten)]
    errors: Option<Errors>,
}

/// The errors of a job that continues after them.
#[derive(Serialize)]
struct Errors {
    total_err: u64,
    first_error: i32,
}

#[derive(Serialize)]
struct Way {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    /// As in fio, also the failed I/Os of a job that continued after them.
    total_ios: u64,
    /// A short transfer ends the load without a result, and no I/O is dropped.
    short_ios: u64,
    drop_ios: u64,
    iops_min: f64,
    iops_max: f64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
    bw_min: f64,
    bw_max: f64,
    /// Percentage of the group's bandwidth; an entry of the results is a whole group.
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    lat_ns: Times,
    /// Without values, because submissions are not measured separately.
    slat_ns: Times,
    /// The same as `lat_ns`: response times are not split into submission and completion.
    clat_ns: Times,
    /// Response times by priority, if there are at least two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prios: Vec<Prio>,
}

#[derive(Serialize)]
struct Prio {
    prioclass: u8,
    prio: u8,
    priohint: u16,
    clat_ns: Times,
}

#[derive(Serialize)]
pub struct Syncs {
    total_ios: u64,
    lat_ns: Times,
    /// Duration of the final fsync, as the maximum over all threads; null if there was none.
    end_fsync_ns: Option<u64>,
}

#[derive(Serialize)]
pub struct Times {
    min: Option<u64>,
    max: Option<u64>,
    mean: Option<f64>,
    stddev: Option<f64>,
    #[serde(rename = "N")]
    count: u64,
    percentile: InOrder<Option<u64>>,
    /// Count of each histogram slot; the key is the middle of the slot.
    bins: InOrder<u64>,
    /// The slowest I/Os of a scaled simulated drive.
    not_in_bins: u64,
}

#[derive(Serialize)]
struct Cpu {
    user_ns: u64,
    system_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
}

#[derive(Serialize)]
struct Verify {
    /// The run in the stamps of what was written; null for a job that only reads.
    run: Option<String>,
    checked_blocks: u64,
    wrong_blocks: u64,
    /// Reads that are shorter than the stamped blocks.
    unchecked_reads: u64,
    kinds: InOrder<u64>,
    places: Vec<Place>,
}

#[derive(Serialize)]
struct Place {
    offset_bytes: u64,
    problem: String,
}

/// An object that keeps the numeric order of its keys: alphabetical order would place 10 before 9.
struct InOrder<V>(Vec<(String, V)>);

impl<V: Serialize> Serialize for InOrder<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'a> Document<'a> {
    /// Combines the results of all jobs.
    #[must_use]
    pub fn of(parts: &'a [Part], ceiling: Option<&'a Ceiling>, origin: &'a Origin) -> Self {
        let clock = ceiling.map(|ceiling| &ceiling.clock);
        let version = format!("plateau-{}", env!("CARGO_PKG_VERSION"));
        let end = parts.iter().filter_map(|part| part.span).map(|span| span.ended).max();
        Self {
            version,
            timestamp: end.map(Timestamp::as_second),
            timestamp_ms: end.map(Timestamp::as_millisecond),
            time: end.map(|end| end.to_string()),
            // A later `[global]` section adds to an earlier one.
            global: in_order(parts.last().map_or(&[], |part| &part.given.globals)),
            host: &origin.host,
            start: Start::of(origin, parts.iter().filter_map(|part| part.span)),
            jobs: parts.iter().enumerate().map(|(index, part)| job(index, part, clock)).collect(),
            ceiling,
            failed: None,
        }
    }

    /// Returns the document with an error and the exit code of the process.
    #[must_use]
    pub fn failed(self, error: String, exit_code: u8) -> Self {
        Self { failed: Some(Failed { error, exit_code, run: None }), ..self }
    }
}

fn in_order<'a>(options: &'a [(&'static str, String)]) -> InOrder<&'a str> {
    InOrder(options.iter().map(|(name, value)| ((*name).to_owned(), value.as_str())).collect())
}

fn job<'a>(index: usize, part: &'a Part, clock: Option<&'a ClockFacts>) -> Job<'a> {
    let [read, write, trim] = part.directions().map(|(kind, direction)| {
        let (rates, priorities) = (part.rates(kind), part.priorities(kind));
        let completed = way(&direction, &rates, priorities, part.seconds(), part.has_maxima());
        Way { total_ios: direction.ios + part.failed(kind), ..completed }
    });
    let (effort, tolerated) = (part.effort(), part.tolerated());
    let times: Vec<f64> = shares(&part.time_counts()).collect();
    let (latency_target, latency_percentile, latency_window) =
        part.depths.as_ref().map_or((0, 100.0, 0), DepthSearch::fio_values);
    let unit = |index: usize, unit_ns: u64| bins(&times, index * BINS_PER_UNIT, unit_ns);
    Job {
        jobname: &part.name,
        groupid: index,
        error: tolerated.as_ref().map_or(0, ToleratedErrors::first_number),
        eta: 0,
        elapsed: part.seconds().ceil() as u64,
        options: in_order(&part.given.all),
        target: &part.target,
        workloads: part.segments.iter().map(|segment| &segment.workload).collect(),
        engines: part.segments.iter().map(|segment| segment.io_path.to_string()).collect(),
        engine_choices: part.segments.iter().map(|segment| segment.io_path.choice.as_deref()).collect(),
        placement: part.segments.iter().filter_map(|s| Some(s.host.as_ref()?.placement.as_str())).collect(),
        seconds: part.seconds(),
        began: part.span.map(|span| span.began),
        ended: part.span.map(|span| span.ended),
        read,
        write,
        trim,
        steadystate: part.steady.as_ref().map(crate::steady::document),
        sync: syncs(&part.synced()),
        job_runtime: (part.clone_seconds() * 1e3).round() as u64,
        usr_cpu: effort.map(|effort| part.percent_per_clone(effort.user_ns)),
        sys_cpu: effort.map(|effort| part.percent_per_clone(effort.system_ns)),
        ctx: effort.map(|effort| effort.voluntary_switches + effort.involuntary_switches),
        majf: effort.map(|effort| effort.major_faults),
        minf: effort.map(|effort| effort.minor_faults),
        iodepth_level: depths(part),
        latency_ns: unit(0, 1),
        latency_us: unit(1, 1_000),
        latency_ms: unit(2, 1_000_000),
        cpu: effort.map(|effort| Cpu {
            user_ns: effort.user_ns,
            system_ns: effort.system_ns,
            voluntary_switches: effort.voluntary_switches,
            involuntary_switches: effort.involuntary_switches,
        }),
        latency_depth: part.depth(),
        latency_target,
        latency_percentile,
        latency_window,
        host_share: part.largest(record::Segment::host_share),
        host_limited: part.host_limited() > 0,
        depth_share: part.depth_share(),
        clock: clock.filter(|_| part.is_driven()),
        verify: part.report.as_ref().map(verify),
        notes: part.remarks(),
        zone_resets: part.zone_resets(),
        errors: tolerated
            .map(|errors| Errors { total_err: errors.total, first_error: errors.first_number() }),
    }
}

/// Returns the bins of one unit, which begin at `first`. The bins of the last unit end with all greater values.
fn bins(shares: &[f64], first: usize, unit_ns: u64) -> InOrder<f64> {
    let is_last = shares.len() < first + 2 * BINS_PER_UNIT;
    let count = if is_last { shares.len() - first } else { BINS_PER_UNIT };
    let name = |place: usize| match BOUNDS_NS.get(place) {
        Some(bound) => (bound / unit_ns).to_string(),
        None => format!(">={}", BOUNDS_NS[place - 1] / unit_ns),
    };
    InOrder((first..first + count).map(|place| (name(place), shares[place])).collect())
}

fn depths(part: &Part) -> InOrder<f64> {
    let name = |place: usize| DEPTHS.get(place).map_or_else(|| ">=64".to_owned(), u16::to_string);
    let share = |place: usize| if place == part.depth_bin() { 100.0 } else { 0.0 };
    InOrder((0..=DEPTHS.len()).map(|place| (name(place), share(place))).collect())
}

fn way(
    direction: &Direction,
    rates: &Rates,
    priorities: Vec<(Option<IoPriority>, Histogram)>,
    seconds: f64,
    has_maxima: bool,
) -> Way {
    let Rates { iops, bandwidth } = rates;
    let prio = |(priority, latency): (Option<IoPriority>, Histogram)| {
        // A thread without a priority of its own has class 0 in fio as well.
        let IoPriority { class, level, hint } = priority.unwrap_or_default();
        Prio { prioclass: class, prio: level, priohint: hint, clat_ns: times(&latency, has_maxima) }
    };
    Way {
        io_bytes: direction.bytes,
        io_kbytes: direction.bytes >> 10,
        bw_bytes: per_second(direction.bytes as f64, seconds).round() as u64,
        bw: (per_second(direction.bytes as f64, seconds) / 1024.0).round() as u64,
        iops: per_second(direction.ios as f64, seconds),
        runtime: (seconds * 1e3).round() as u64,
        total_ios: direction.ios,
        short_ios: 0,
        drop_ios: 0,
        iops_min: iops.min,
        iops_max: iops.max,
        iops_mean: iops.mean,
        iops_stddev: iops.stddev,
        iops_samples: iops.samples,
        bw_min: bandwidth.min,
        bw_max: bandwidth.max,
        bw_agg: if direction.ios > 0 { 100.0 } else { 0.0 },
        bw_mean: bandwidth.mean,
        bw_dev: bandwidth.stddev,
        bw_samples: bandwidth.samples,
        lat_ns: times(&direction.latency, has_maxima),
        slat_ns: times(&Histogram::new(), has_maxima),
        clat_ns: times(&direction.latency, has_maxima),
        prios: priorities.into_iter().map(prio).collect(),
    }
}

pub fn syncs(synced: &Synced) -> Syncs {
    let Synced { syncs, ref latency, end_fsync_ns } = *synced;
    Syncs { total_ios: syncs, lat_ns: times(latency, true), end_fsync_ns }
}

pub fn times(latency: &Histogram, has_maxima: bool) -> Times {
    let percentile = |beyond_ppm: &u32| {
        let name = format!("{:.6}", 100.0 - f64::from(*beyond_ppm) / 1e4);
        (name, Percentile { name: "", beyond_ppm: *beyond_ppm }.ns_of(latency))
    };
    let counted = counted(latency, has_maxima);
    Times {
        min: latency.min(),
        max: latency.max().filter(|_| has_maxima),
        mean: latency.mean(),
        stddev: Some(stddev(latency)).filter(|_| has_maxima),
        count: latency.count(),
        percentile: InOrder(BEYOND_PPM.iter().map(percentile).collect()),
        bins: InOrder(counted.bins.iter().map(|(ns, count)| (ns.to_string(), *count)).collect()),
        not_in_bins: counted.left_out,
    }
}

fn verify(report: &VerifyReport) -> Verify {
    let place =
        |place: &engine::WrongPlace| Place { offset_bytes: place.offset_bytes, problem: place.to_string() };
    Verify {
        run: report.run.map(|run| run.to_string()),
        checked_blocks: report.checked,
        wrong_blocks: report.wrong(),
        unchecked_reads: report.unchecked,
        kinds: InOrder(report.counts().map(|(name, count)| (name.to_owned(), count)).collect()),
        places: report.places.iter().map(place).collect(),
    }
}

#[cfg(test)]
mod tests;
