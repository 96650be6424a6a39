//! Reads one host's result: the document that `plateau load --json` prints.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use record::{Direction, Synced};
use serde::Deserialize;
use serde_json::Value;
use stdx::Histogram;
use stdx::histogram::slot_of;

use super::problem::Trouble;
use crate::result::{Host, Start};

/// Limit on counts and bytes, so that no sum of results overflows.
const MOST: u64 = 1 << 53;
/// Rounding can make the mean of equal values larger than the values themselves.
const ROUNDING: f64 = 1e-9;

/// A file with a result, and its content or the reason why it cannot be read.
#[derive(Debug, Clone)]
pub struct Given {
    /// Name of the file.
    pub file: String,
    /// Its content.
    pub content: Result<String, String>,
}

/// The complete result of one host.
#[derive(Debug, Clone)]
pub struct HostResult {
    /// The file with the result.
    pub file: String,
    /// The host.
    pub host: Host,
    /// When the load was to start, and when it did.
    pub start: Start,
    /// The jobs, in order.
    pub jobs: Vec<HostJob>,
}

/// The result of a job on one host.
#[derive(Debug, Clone)]
pub struct HostJob {
    /// Name of the job.
    pub name: String,
    /// Start of the measurement according to the host's clock.
    pub began: Timestamp,
    /// End of the measurement.
    pub ended: Timestamp,
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// Failed reads and failed writes that did not end the job.
    pub failed: [u64; 2],
    /// Syncs.
    pub synced: Synced,
    /// Whether the host may have limited the result.
    pub is_host_limited: bool,
    /// Remarks about the result.
    pub notes: Vec<String>,
    /// The load, without what may differ between hosts.
    pub load: Vec<Value>,
}

impl HostJob {
    /// Returns the number of completed reads and writes.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.read.ios + self.write.ios
    }

    /// Returns the length of the measurement.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        seconds(self.began, self.ended)
    }
}

/// Returns the time between two moments in seconds.
pub fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).max(SignedDuration::ZERO).as_secs_f64()
}

#[derive(Deserialize)]
struct WireResult {
    host: Host,
    start: Start,
    jobs: Vec<WireJob>,
}

#[derive(Deserialize)]
struct WireJob {
    jobname: String,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    read: WireWay,
    write: WireWay,
    sync: WireSyncs,
    #[serde(default)]
    total_err: u64,
    host_limited: bool,
    notes: Vec<String>,
    #[serde(default)]
    workloads: Vec<Value>,
}

#[derive(Deserialize)]
struct WireWay {
    io_bytes: u64,
    total_ios: u64,
    lat_ns: WireTimes,
}

#[derive(Deserialize)]
struct WireSyncs {
    total_ios: u64,
    lat_ns: WireTimes,
    end_fsync_ns: Option<u64>,
}

#[derive(Deserialize)]
struct WireTimes {
    min: Option<u64>,
    max: Option<u64>,
    mean: Option<f64>,
    #[serde(rename = "N")]
    count: u64,
    bins: BTreeMap<String, u64>,
    not_in_bins: u64,
}

/// Reads the result of a host.
pub fn read(file: &str, text: &str) -> Result<HostResult, Trouble> {
    if text.trim().is_empty() {
        return Err(Trouble::Empty);
    }
    let not = |cause: serde_json::Error| Trouble::NotAResult(cause.to_string());
    let value: Value = serde_json::from_str(text).map_err(not)?;
    if let Some(error) = value.get("error").and_then(Value::as_str) {
        let exit_code = value.get("exit_code").and_then(Value::as_u64);
        return Err(Trouble::Failed { error: error.to_owned(), exit_code });
    }
    let WireResult { host, start, jobs } = serde_json::from_value(value).map_err(not)?;
    if jobs.is_empty() {
        return Err(Trouble::NotAResult("no jobs".into()));
    }
    let jobs = jobs.into_iter().map(job).collect::<Result<_, _>>()?;
    Ok(HostResult { file: file.to_owned(), host, start, jobs })
}

fn job(wire: WireJob) -> Result<HostJob, Trouble> {
    let (Some(began), Some(ended)) = (wire.began, wire.ended) else { return Err(Trouble::Simulated) };
    let of = |what: &str, problem: &str| Trouble::NotAResult(format!("{}: {what}: {problem}", wire.jobname));
    let way = |what: &str, way: WireWay| {
        let latency = histogram(&way.lat_ns).map_err(|problem| of(what, problem))?;
        let ios = latency.count();
        let failed = way.total_ios.checked_sub(ios).filter(|failed| *failed <= wire.total_err.min(MOST));
        match failed.filter(|_| way.io_bytes <= MOST) {
            Some(failed) => Ok((Direction { ios, bytes: way.io_bytes, latency }, failed)),
            None => Err(of(what, "the number of response times differs from the number of I/Os")),
        }
    };
    let ((read, failed_reads), (write, failed_writes)) = (way("read", wire.read)?, way("write", wire.write)?);
    let failed = [failed_reads, failed_writes];
    let latency = histogram(&wire.sync.lat_ns).map_err(|problem| of("sync", problem))?;
    if wire.sync.total_ios > MOST {
        return Err(of("sync", "too many"));
    }
    let synced = Synced { syncs: wire.sync.total_ios, latency, end_fsync_ns: wire.sync.end_fsync_ns };
    let (is_host_limited, notes) = (wire.host_limited, wire.notes);
    let load = wire.workloads.into_iter().map(comparable).collect();
    Ok(HostJob {
        name: wire.jobname,
        began,
        ended,
        read,
        write,
        failed,
        synced,
        is_host_limited,
        notes,
        load,
    })
}

/// Removes from a workload what depends on the host's target and seed: the addresses, and an amount that follows from the
/// size of the target.
fn comparable(mut workload: Value) -> Value {
    if let Value::Object(fields) = &mut workload {
        fields.retain(|name, _| !["seed", "range", "from_block"].contains(&name.as_str()));
        if let Some(Value::Object(until)) = fields.get_mut("until") {
            until.retain(|name, _| name != "amount_bytes");
        }
    }
    workload
}

/// Restores a histogram from its bins, each of which is named after a value in its slot.
fn histogram(times: &WireTimes) -> Result<Histogram, &'static str> {
    let mut slots: BTreeMap<usize, u64> = BTreeMap::new();
    for (ns, count) in &times.bins {
        let ns: u64 = ns.parse().map_err(|_| "the name of a bin is not a time")?;
        let slot = slots.entry(slot_of(ns)).or_default();
        *slot = slot.checked_add(*count).ok_or("count overflows")?;
    }
    if times.not_in_bins > 0 {
        return Err("some response times are not in bins");
    }
    let filled: Vec<(usize, u64)> = slots.into_iter().collect();
    if times.count > MOST {
        return Err("too many I/Os");
    }
    let (min, max, mean) = (times.min.unwrap_or(0), times.max.unwrap_or(0), times.mean.unwrap_or(0.0));
    if !mean.is_finite() || mean < 0.0 || mean > max as f64 * (1.0 + ROUNDING) {
        return Err("the mean is not between zero and the maximum");
    }
    // The sum is exact below 2^50 ns (13 days of response times in total); above that, it is as precise as the
    // mean itself.
    let sum = (mean * times.count as f64).round() as u128;
    let histogram = Histogram::from_parts(&filled, sum, min, max)?;
    if histogram.count() != times.count {
        return Err("the bins do not contain all I/Os");
    }
    Ok(histogram)
}
