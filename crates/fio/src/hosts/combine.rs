//! Combines the results of several hosts, or explains why they cannot be combined.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use record::{Direction, Synced};

use super::problem::{Problem, Trouble};
use super::read::{Given, HostJob, HostResult, read, seconds};
use crate::result::per_second;

/// If all hosts measured at once for less than this fraction of the time, a note says so.
const OVERLAP_SHARE: f64 = 0.95;

/// The combined result.
#[derive(Debug, Clone)]
pub struct Combined {
    /// The results of the hosts, in the given order.
    pub hosts: Vec<HostResult>,
    /// The jobs, each combined over all hosts.
    pub jobs: Vec<CombinedJob>,
    /// Largest permitted difference between the starts.
    pub skew_limit: Duration,
}

/// A job, combined over all hosts.
#[derive(Debug, Clone)]
pub struct CombinedJob {
    /// Name of the job.
    pub name: String,
    /// Start of the measurement on the first host.
    pub began: Timestamp,
    /// End of the measurement on the last host.
    pub ended: Timestamp,
    /// Difference between the first and the last start, according to the hosts' clocks.
    pub skew: SignedDuration,
    /// The difference between the first and the last start, plus the largest possible clock errors.
    pub skew_at_most: SignedDuration,
    /// Fraction of the time during which all hosts were measuring.
    pub overlap_share: f64,
    /// Reads of all hosts.
    pub read: Direction,
    /// Writes of all hosts.
    pub write: Direction,
    /// Failed reads and failed writes of all hosts that did not end the job.
    pub failed: [u64; 2],
    /// Syncs of all hosts.
    pub synced: Synced,
    /// What each host contributed, in the given order.
    pub shares: Vec<HostShare>,
    /// Index of the host with the lowest rate.
    pub slowest: usize,
    /// Whether a host may have limited the result.
    pub is_host_limited: bool,
    /// Remarks about the result.
    pub notes: Vec<String>,
}

/// What a host contributed to a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostShare {
    /// Start of the measurement.
    pub began: Timestamp,
    /// Length of the measurement.
    pub seconds: f64,
    /// Completed reads and writes.
    pub ios: u64,
    /// Failed ones.
    pub failed: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// I/Os per second over the host's own measurement time.
    pub iops: f64,
    /// Fraction of all completed I/Os.
    pub share: f64,
    /// Whether the host may have limited the result.
    pub is_host_limited: bool,
}

impl CombinedJob {
    /// Returns the time from the first start to the last end.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        seconds(self.began, self.ended)
    }
}

/// Combines the results of several hosts.
///
/// # Errors
/// Returns all problems (at least one) in the order of the files.
pub fn combine(given: &[Given], skew_limit: Duration) -> Result<Combined, Vec<Problem>> {
    let (mut hosts, mut problems): (Vec<HostResult>, Vec<Problem>) = (Vec::new(), Vec::new());
    for (index, Given { file, content }) in given.iter().enumerate() {
        let problem = |trouble| Problem { file: file.clone(), trouble };
        match content {
            Err(cause) => problems.push(problem(Trouble::Unreadable(cause.clone()))),
            Ok(text) => match read(file, text) {
                Err(trouble) => problems.push(problem(trouble)),
                Ok(_) if given[..index].iter().any(|other| other.content.as_ref() == Ok(text)) => {
                    let first = given.iter().find(|other| other.content.as_ref() == Ok(text));
                    let first = first.map_or_else(String::new, |other| other.file.clone());
                    problems.push(problem(Trouble::Duplicate { first }));
                }
                Ok(result) => hosts.push(result),
            },
        }
    }
    problems.extend(incompatible(&hosts));
    if problems.is_empty() {
        problems.extend((0..hosts[0].jobs.len()).filter_map(|job| too_far_apart(&hosts, job, skew_limit)));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let jobs = (0..hosts[0].jobs.len()).map(|job| combined(&hosts, job)).collect();
    Ok(Combined { hosts, jobs, skew_limit })
}

/// Returns the problems that prevent complete results from being combined.
fn incompatible(hosts: &[HostResult]) -> Vec<Problem> {
    let Some(first) = hosts.first() else { return Vec::new() };
    let one_clock = hosts.iter().all(|result| is_same_clock(first, result));
    let names = |result: &HostResult| result.jobs.iter().map(|job| job.name.clone()).collect::<Vec<_>>();
    let mut problems = Vec::new();
    for result in hosts {
        let mut add = |trouble| problems.push(Problem { file: result.file.clone(), trouble });
        if names(result) != names(first) {
            add(Trouble::OtherJobs { first: first.file.clone() });
        } else {
            for (job, _) in result.jobs.iter().zip(&first.jobs).filter(|(job, other)| job.load != other.load)
            {
                add(Trouble::OtherLoad { job: job.name.clone(), first: first.file.clone() });
            }
        }
        for job in result.jobs.iter().filter(|job| job.ios() == 0) {
            add(Trouble::Nothing { job: job.name.clone() });
        }
        if !one_clock && !result.start.clock.is_some_and(|clock| clock.synchronized) {
            add(Trouble::Unsynchronized { host: result.host.name.clone() });
        }
    }
    problems
}

/// Returns whether both results were timed by the same clock.
fn is_same_clock(one: &HostResult, other: &HostResult) -> bool {
    one.host.boot_id.is_some() && one.host.boot_id == other.host.boot_id
}

/// The difference between two starts.
struct Apart {
    earlier: usize,
    later: usize,
    measured: SignedDuration,
    /// The measured difference plus the errors of both clocks.
    at_most: SignedDuration,
}

/// Returns the two hosts whose starts may differ most.
fn furthest_apart(hosts: &[HostResult], job: usize) -> Option<Apart> {
    let error = |result: &HostResult| {
        let ns = result.start.clock.map_or(0, |clock| clock.max_error_ns);
        SignedDuration::from_nanos(i64::try_from(ns).unwrap_or(i64::MAX))
    };
    let pairs = (0..hosts.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let apart = pairs.map(|(a, b)| {
        let of_a = hosts[a].jobs[job].began.duration_since(hosts[b].jobs[job].began);
        let (earlier, later) = if of_a.is_negative() { (a, b) } else { (b, a) };
        let measured = of_a.abs();
        let at_most = match is_same_clock(&hosts[a], &hosts[b]) {
            true => measured,
            false => measured.saturating_add(error(&hosts[a])).saturating_add(error(&hosts[b])),
        };
        Apart { earlier, later, measured, at_most }
    });
    apart.max_by_key(|apart| apart.at_most)
}

fn too_far_apart(hosts: &[HostResult], job: usize, limit: Duration) -> Option<Problem> {
    let Apart { earlier, later, measured, at_most } = furthest_apart(hosts, job)?;
    let is_within = at_most <= SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
    let (earlier, later) = (&hosts[earlier], &hosts[later]);
    let name = |result: &HostResult| labels(hosts)(result);
    (!is_within).then(|| Problem {
        file: later.file.clone(),
        trouble: Trouble::Skew {
            job: later.jobs[job].name.clone(),
            host: name(later),
            other: name(earlier),
            measured,
            at_most,
            limit,
        },
    })
}

/// Returns a function that names results: by host, or by host and file if a host has several results.
pub fn labels(hosts: &[HostResult]) -> impl Fn(&HostResult) -> String {
    let names: BTreeSet<&str> = hosts.iter().map(|result| result.host.name.as_str()).collect();
    let is_unique = names.len() == hosts.len();
    move |result| match is_unique {
        true => result.host.name.clone(),
        false => format!("{} ({})", result.host.name, result.file),
    }
}

fn combined(hosts: &[HostResult], job: usize) -> CombinedJob {
    let of_hosts: Vec<&HostJob> = hosts.iter().map(|result| &result.jobs[job]).collect();
    let (mut read, mut write, mut synced) = (Direction::default(), Direction::default(), Synced::default());
    let mut failed = [0; 2];
    for part in &of_hosts {
        add(&mut read, &part.read);
        add(&mut write, &part.write);
        synced.add(&part.synced);
        failed = [0, 1].map(|way: usize| failed[way] + part.failed[way]);
    }
    let first = of_hosts[0];
    let of = |time: fn(&HostJob) -> Timestamp| of_hosts.iter().map(move |job| time(job));
    let (began, last_began) =
        (of(|job| job.began).min().unwrap_or(first.began), of(|job| job.began).max().unwrap_or(first.began));
    let (ended, first_ended) =
        (of(|job| job.ended).max().unwrap_or(first.ended), of(|job| job.ended).min().unwrap_or(first.ended));
    let overlap_share = per_second(seconds(last_began, first_ended), seconds(began, ended));
    let shares: Vec<HostShare> = of_hosts.iter().map(|job| share(job, read.ios + write.ios)).collect();
    let slowest = (0..shares.len()).min_by(|a, b| shares[*a].iops.total_cmp(&shares[*b].iops)).unwrap_or(0);
    let label = labels(hosts);
    let of_host = |(result, job): (&HostResult, &HostJob)| {
        let name = label(result);
        job.notes.iter().map(|note| format!("{name}: {note}")).collect::<Vec<_>>()
    };
    let mut notes: Vec<String> = hosts.iter().zip(of_hosts.iter().copied()).flat_map(of_host).collect();
    if overlap_share < OVERLAP_SHARE {
        notes.push(format!(
            "all hosts were measuring for only {:.1} % of the time; the rest of the time, results come from \
             fewer hosts",
            overlap_share * 100.0
        ));
    }
    CombinedJob {
        name: first.name.clone(),
        began,
        ended,
        skew: last_began.duration_since(began),
        skew_at_most: furthest_apart(hosts, job).map_or(SignedDuration::ZERO, |apart| apart.at_most),
        overlap_share,
        read,
        write,
        failed,
        synced,
        slowest,
        is_host_limited: shares.iter().any(|share| share.is_host_limited),
        shares,
        notes,
    }
}

fn add(sum: &mut Direction, direction: &Direction) {
    sum.ios += direction.ios;
    sum.bytes += direction.bytes;
    sum.latency.merge(&direction.latency);
}

fn share(job: &HostJob, all_ios: u64) -> HostShare {
    HostShare {
        began: job.began,
        seconds: job.seconds(),
        ios: job.ios(),
        failed: job.failed.iter().sum(),
        bytes: job.read.bytes + job.write.bytes,
        iops: per_second(job.ios() as f64, job.seconds()),
        share: job.ios() as f64 / all_ios.max(1) as f64,
        is_host_limited: job.is_host_limited,
    }
}
