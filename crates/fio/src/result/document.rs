//! The JSON result of a load, with fio's names where fio has an equivalent.

use engine::VerifyReport;
use jiff::Timestamp;
use pts::response::Percentile;
use record::{Ceiling, ClockFacts, Direction, PathChoice, Synced, TargetFacts, Workload};
use serde::{Serialize, Serializer};
use stdx::Histogram;

use super::origin::{Host, Origin, Start};
use super::part::{Part, per_second};
use super::samples::Rates;
use super::terse::{BOUNDS_US, shares};
use super::times::{BEYOND_PPM, counted, stddev};
use crate::steady::SteadyDocument;

/// The results of a load.
#[derive(Serialize)]
pub struct Document<'a> {
    jobs: Vec<Job<'a>>,
    #[serde(rename = "fio version")]
    version: String,
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
    error: u8,
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
    /// Percentages of one CPU, and context switches.
    usr_cpu: Option<f64>,
    sys_cpu: Option<f64>,
    ctx: Option<u64>,
    /// Percentage of I/Os with response times up to this key, but above the previous key.
    latency_us: InOrder<f64>,
    latency_ms: InOrder<f64>,
    host_share: Option<f64>,
    host_limited: bool,
    /// Average number of outstanding I/Os divided by the requested depth, as the minimum over the workloads;
    /// null if not meaningful.
    depth_share: Option<f64>,
    clock: Option<&'a ClockFacts>,
    verify: Option<Verify>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Way {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    iops_min: f64,
    iops_max: f64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
    bw_min: f64,
    bw_max: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    lat_ns: Times,
    /// The same as `lat_ns`: response times are not split into submission and completion.
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
        Self {
            version,
            host: &origin.host,
            start: Start::of(origin, parts.iter().filter_map(|part| part.span)),
            jobs: parts.iter().map(|part| job(part, clock)).collect(),
            ceiling,
    /// Reads that are shorter than the stamped blocks.
    unchecked_reads: u64,
            failed: None,
        }
    }

    /// Returns the document with an error and the exit code of the process.
    #[must_use]
    pub fn failed(self, error: String, exit_code: u8) -> Self {
        Self { failed: Some(Failed { error, exit_code, run: None }), ..self }
    }
}

fn job<'a>(part: &'a Part, clock: Option<&'a ClockFacts>) -> Job<'a> {
    let [read, write, trim] = part
        .directions()
        .map(|(kind, direction)| way(&direction, &part.rates(kind), part.seconds(), part.has_maxima()));
    let effort = part.effort();
    let percent = |ns: u64| per_second(ns as f64, part.seconds()) / 1e7;
    let times: Vec<f64> = shares(&part.time_shares()).collect();
    let (us, ms) = times.split_at(BOUNDS_US.iter().filter(|bound| **bound <= 1000).count());
    Job {
        jobname: &part.name,
        error: 0,
        options: InOrder(
            part.given.iter().map(|(name, value)| ((*name).to_owned(), value.as_str())).collect(),
        ),
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
        usr_cpu: effort.map(|effort| percent(effort.user_ns)),
        sys_cpu: effort.map(|effort| percent(effort.system_ns)),
        ctx: effort.map(|effort| effort.voluntary_switches + effort.involuntary_switches),
        latency_us: InOrder(BOUNDS_US.iter().map(u64::to_string).zip(us.iter().copied()).collect()),
        latency_ms: InOrder(bounds_ms().into_iter().zip(ms.iter().copied()).collect()),
        cpu: effort.map(|effort| Cpu {
            user_ns: effort.user_ns,
            system_ns: effort.system_ns,
            voluntary_switches: effort.voluntary_switches,
            involuntary_switches: effort.involuntary_switches,
        }),
        host_share: part.largest(record::Segment::host_share),
        host_limited: part.host_limited() > 0,
        depth_share: part.depth_share(),
        clock: clock.filter(|_| part.is_driven()),
        verify: part.report.as_ref().map(verify),
        notes: part.remarks(),
    }
}

/// Returns the names of the response times above one millisecond.
fn bounds_ms() -> Vec<String> {
    let bounds = BOUNDS_US.iter().filter(|bound| **bound > 1000).map(|bound| (bound / 1000).to_string());
    bounds.chain([">=2000".to_owned()]).collect()
}

fn way(direction: &Direction, rates: &Rates, seconds: f64, has_maxima: bool) -> Way {
    let Rates { iops, bandwidth } = *rates;
    Way {
        io_bytes: direction.bytes,
        io_kbytes: direction.bytes >> 10,
        bw_bytes: per_second(direction.bytes as f64, seconds).round() as u64,
        bw: (per_second(direction.bytes as f64, seconds) / 1024.0).round() as u64,
        iops: per_second(direction.ios as f64, seconds),
        runtime: (seconds * 1e3).round() as u64,
        total_ios: direction.ios,
        iops_min: iops.min,
        iops_max: iops.max,
        iops_mean: iops.mean,
        iops_stddev: iops.stddev,
        iops_samples: iops.samples,
        bw_min: bandwidth.min,
        bw_max: bandwidth.max,
        bw_mean: bandwidth.mean,
        bw_dev: bandwidth.stddev,
        bw_samples: bandwidth.samples,
        lat_ns: times(&direction.latency, has_maxima),
        clat_ns: times(&direction.latency, has_maxima),
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
        kinds: InOrder(report.counts().map(|(name, count)| (name.to_owned(), count)).collect()),
        places: report.places.iter().map(place).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(values_ns: &[u64]) -> Direction {
        let mut latency = Histogram::new();
        values_ns.iter().for_each(|ns| latency.record(*ns));
        Direction { ios: latency.count(), bytes: latency.count() * 4096, latency }
    }

    #[test]
    fn percentiles_agree_with_the_bins() {
        let values: Vec<u64> = (1..=20_000).map(|i| i * i % 7_000_003 + 200).collect();
        let output = way(&direction(&values), &Rates::default(), 2.0, true);
        assert!((output.iops - 10_000.0).abs() < 1e-9);
        let bins: Vec<(u64, u64)> =
            output.lat_ns.bins.0.iter().map(|(ns, count)| (ns.parse().unwrap(), *count)).collect();
        assert!(bins.is_sorted(), "{bins:?}");
        assert_eq!(bins.iter().map(|bin| bin.1).sum::<u64>(), 20_000);
        assert_eq!(output.lat_ns.min, Some(bins[0].0));
        assert!(output.lat_ns.max >= bins.last().map(|bin| bin.0), "{bins:?}");
        let document = serde_json::to_value(&output).unwrap();
        let percentiles = &document["lat_ns"]["percentile"];
        for beyond_ppm in BEYOND_PPM.iter().filter(|ppm| **ppm >= 500) {
            let rank = 20_000 - 20_000 * u64::from(*beyond_ppm) / 1_000_000;
            let mut seen = 0;
            let at = bins.iter().find(|bin| {
                seen += bin.1;
                seen >= rank
            });
            let name = format!("{:.6}", 100.0 - f64::from(*beyond_ppm) / 1e4);
            assert_eq!(percentiles[&name].as_u64(), at.map(|bin| bin.0), "{name}");
        }
        for unknown in ["99.990000", "99.999000"] {
            assert!(percentiles.as_object().unwrap()[unknown].is_null(), "{percentiles}");
        }
    }

    #[test]
    fn the_bins_of_a_scaled_drive_do_not_reveal_a_maximum() {
        let mut values = vec![100_000; 1000];
        values.extend([9_000_000_000, 9_900_000_000]);
        let document =
            serde_json::to_string(&way(&direction(&values), &Rates::default(), 1.0, false)).unwrap();
        assert!(document.contains(r#""max":null"#) && document.contains(r#""not_in_bins":2"#), "{document}");
        assert!(document.contains(r#""bins":{"100095":1000}"#), "{document}");
        let whole = serde_json::to_string(&way(&direction(&values), &Rates::default(), 1.0, true)).unwrap();
        assert!(whole.contains(r#""max":9900000000"#) && whole.contains(r#""not_in_bins":0"#), "{whole}");
    }
}
        unchecked_reads: report.unchecked,
