//! The combined result as JSON, with the same keys as a load's result where the meaning is the same.

use jiff::{SignedDuration, Timestamp};
use record::Direction;
use serde::Serialize;

use super::combine::{Combined, CombinedJob, HostShare};
use super::read::HostResult;
use crate::result::{Start, Syncs, Times, per_second, syncs, times};

/// The combined result.
#[derive(Serialize)]
pub struct Document<'a> {
    hosts: Vec<Origin<'a>>,
    skew_limit_ns: u64,
    jobs: Vec<Job<'a>>,
}

/// A result that was combined.
#[derive(Serialize)]
struct Origin<'a> {
    host: &'a str,
    file: &'a str,
    start: &'a Start,
    /// Time from the requested start to the first I/O; null if no start was requested.
    late_ns: Option<i64>,
}

#[derive(Serialize)]
struct Job<'a> {
    jobname: &'a str,
    /// Start of the measurement on the first host.
    began: Timestamp,
    /// End of the measurement on the last host.
    ended: Timestamp,
    seconds: f64,
    skew_ns: i64,
    skew_at_most_ns: i64,
    overlap_share: f64,
    read: Way,
    write: Way,
    sync: Syncs,
    /// In the order of the results.
    hosts: Vec<Share<'a>>,
    slowest: Slowest<'a>,
    host_limited: bool,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Way {
    io_bytes: u64,
    bw_bytes: u64,
    iops: f64,
    total_ios: u64,
    lat_ns: Times,
}

#[derive(Serialize)]
struct Share<'a> {
    host: &'a str,
    file: &'a str,
    began: Timestamp,
    seconds: f64,
    total_ios: u64,
    io_bytes: u64,
    iops: f64,
    share: f64,
    host_limited: bool,
}

#[derive(Serialize)]
struct Slowest<'a> {
    host: &'a str,
    file: &'a str,
    share: f64,
}

impl Combined {
    /// Returns the combined result as JSON.
    #[must_use]
    pub fn document(&self) -> Document<'_> {
        Document {
            hosts: self.hosts.iter().map(origin).collect(),
            skew_limit_ns: u64::try_from(self.skew_limit.as_nanos()).unwrap_or(u64::MAX),
            jobs: self.jobs.iter().map(|job| self.job(job)).collect(),
        }
    }

    fn job<'a>(&'a self, job: &'a CombinedJob) -> Job<'a> {
        let slowest = &self.hosts[job.slowest];
        Job {
            jobname: &job.name,
            began: job.began,
            ended: job.ended,
            seconds: job.seconds(),
            skew_ns: ns(job.skew),
            skew_at_most_ns: ns(job.skew_at_most),
            overlap_share: job.overlap_share,
            read: way(&job.read, job.failed[0], job.seconds()),
            write: way(&job.write, job.failed[1], job.seconds()),
            sync: syncs(&job.synced),
            hosts: self.hosts.iter().zip(&job.shares).map(share).collect(),
            slowest: Slowest {
                host: &slowest.host.name,
                file: &slowest.file,
                share: job.shares[job.slowest].share,
            },
            host_limited: job.is_host_limited,
            notes: &job.notes,
        }
    }
}

fn origin(result: &HostResult) -> Origin<'_> {
    let late = result.start.actual.zip(result.start.requested);
    Origin {
        host: &result.host.name,
        file: &result.file,
        start: &result.start,
        late_ns: late.map(|(actual, requested)| ns(actual.duration_since(requested))),
    }
}

fn way(direction: &Direction, failed: u64, seconds: f64) -> Way {
    Way {
        io_bytes: direction.bytes,
        bw_bytes: per_second(direction.bytes as f64, seconds).round() as u64,
        iops: per_second(direction.ios as f64, seconds),
        total_ios: direction.ios + failed,
        lat_ns: times(&direction.latency, true),
    }
}

fn share<'a>((result, share): (&'a HostResult, &HostShare)) -> Share<'a> {
    Share {
        host: &result.host.name,
        file: &result.file,
        began: share.began,
        seconds: share.seconds,
        total_ios: share.ios + share.failed,
        io_bytes: share.bytes,
        iops: share.iops,
        share: share.share,
        host_limited: share.is_host_limited,
    }
}

fn ns(time: SignedDuration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
