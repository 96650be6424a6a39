//! The characteristics of a workload: its streams and how they change over time, locality and reuse, the number of
//! outstanding I/Os, and how evenly I/Os arrive.
//!
//! Everything is collected in one pass, and memory use does not depend on the length of the trace.

mod bursts;
mod idle;
mod locality;
mod outstanding;
mod reuse;
mod steps;
mod streams;

use stdx::Histogram;

pub use bursts::Burst;
pub use idle::Idle;
pub use locality::Region;
pub use reuse::Reuse;
pub use steps::{Served, Step};
pub use streams::{Stream, StreamKind};

use crate::file::{Origin, Reader, Summary};
use crate::{Io, Op, TraceError};
use bursts::Bursts;
use idle::IdleTimes;
use locality::Locality;
use outstanding::Outstanding;
use reuse::ReuseDistances;
use steps::Steps;
use streams::Streams;

/// The characteristics of a trace.
#[derive(Debug)]
pub struct Characteristics {
    /// The header.
    pub origin: Origin,
    /// Totals.
    pub summary: Summary,
    /// Streams, starting with the one with the most I/Os.
    pub streams: Vec<Stream>,
    /// Length of a step.
    pub step_ns: u64,
    /// Equal steps from the first I/O to the end.
    pub steps: Vec<Step>,
    /// Response times of reads and of writes.
    pub responses: [Histogram; 2],
    /// Number of outstanding I/Os when each I/O is issued, including that I/O; empty if completions are
    /// unknown.
    pub depths: Histogram,
    /// Length of a region.
    pub region_bytes: u64,
    /// The volume, divided into equal parts.
    pub regions: Vec<Region>,
    /// How much other data is accessed before the same data is accessed again.
    pub reuse: Reuse,
    /// Periods without an outstanding I/O.
    pub idle: Idle,
    /// How evenly I/Os arrive, in windows of several lengths.
    pub bursts: Vec<Burst>,
}

/// Reads a trace to its end.
///
/// # Errors
/// Returns an error if the trace is damaged or incomplete.
pub fn characterise<R: std::io::Read>(mut reader: Reader<R>) -> Result<Characteristics, TraceError> {
    let mut collected = Collected::default();
    while let Some(io) = reader.next_io()? {
        collected.add(&io);
    }
    let summary = reader.summary().unwrap_or_default();
    Ok(collected.finish(reader.origin().clone(), summary))
}

#[derive(Default)]
struct Collected {
    streams: Streams,
    steps: Steps,
    responses: [Histogram; 2],
    outstanding: Outstanding,
    locality: Locality,
    reuse: ReuseDistances,
    idle: IdleTimes,
    bursts: Bursts,
}

impl Collected {
    fn add(&mut self, io: &Io) {
        let stream = self.streams.add(io);
        self.steps.add(io, stream);
        if let (Some(response_ns), true) = (io.response_ns, io.op.transfers()) {
            self.responses[usize::from(io.op == Op::Write)].record(response_ns);
        }
        self.outstanding.add(io);
        self.idle.add(io);
        self.bursts.add(io.issue_ns);
        if io.op.transfers() {
            self.locality.add(io);
            self.reuse.add(io);
        }
    }

    fn finish(self, origin: Origin, summary: Summary) -> Characteristics {
        let (streams, places) = self.streams.finish();
        let (step_ns, steps) = self.steps.finish(&places, summary.end_ns);
        let (region_bytes, regions) = self.locality.finish();
        Characteristics {
            origin,
            summary,
            streams,
            step_ns,
            steps,
            responses: self.responses,
            depths: self.outstanding.finish(),
            region_bytes,
            regions,
            reuse: self.reuse.finish(),
            idle: self.idle.finish(),
            bursts: self.bursts.finish(summary.last_issue_ns),
        }
    }
}

impl Characteristics {
    /// Returns the I/Os per second over the whole trace.
    #[must_use]
    pub fn iops(&self) -> f64 {
        self.summary.ios as f64 / self.seconds()
    }

    /// Returns the length of the trace.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.summary.end_ns.max(1) as f64 / 1e9
    }

    /// Returns the percentage of reads among reads and writes.
    #[must_use]
    pub fn read_percent(&self) -> f64 {
        let count = |op| self.streams.iter().filter(|s| s.kind.op == op).map(|s| s.ios).sum::<u64>() as f64;
        let (reads, writes) = (count(Op::Read), count(Op::Write));
        if reads + writes > 0.0 { 100.0 * reads / (reads + writes) } else { 0.0 }
    }
}
