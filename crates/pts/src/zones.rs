//! Zone tests for hard disks, following TKperf. The range is divided into 128 equal zones, each measured separately,
//! from the first (the outer edge of nearly every disk) to the last. Since there is no purge, preconditioning or steady
//! state, the result is never a PTS result.

mod pages;

use record::{Access, Note, Range, Segment, Workload};
use stdx::units::{amount_base2, block_size};

use crate::modified::Incidents;
use crate::profile::{Cell, Demand};
use crate::{Bench, Context, Outcome, Stop, Test};

/// Number of zones.
pub(crate) const ZONES: u32 = 128;
/// Zone lengths are multiples of this.
const ZONE_ALIGNMENT_BYTES: u64 = 4096;

/// Definition of a zone test.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub test: &'static Test,
    pub figure: Figure,
    /// Cells measured in each zone, for each pass over all zones.
    pub passes: &'static [&'static [Cell]],
    pub recommended: Option<Demand>,
    pub outline: &'static str,
    pub purpose: &'static str,
}

/// Figure reported for a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// IOPS of random I/O.
    Iops,
    /// Throughput of sequential I/O in MB/s.
    Throughput,
}

/// One completed cell. A test has a thousand of them, so they do not keep their segments with all histograms.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Zone number, starting at 0.
    zone: u32,
    cell: Cell,
    value: f64,
    mean_ms: Option<f64>,
    host_limited: bool,
}

/// All answers received by the test, whether or not it completed.
struct Seen {
    sweep: &'static Sweep,
    samples: Vec<Sample>,
    /// Number of completed zones, summed over all passes.
    finished: u32,
    incidents: Incidents,
}

pub(crate) fn run(sweep: &'static Sweep, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut seen = Seen { sweep, samples: Vec::new(), finished: 0, incidents: Incidents::default() };
    let stop = measure(context, bench, &mut seen).err();
    pages::outcome(context, &seen, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, seen: &mut Seen) -> Result<(), Stop> {
    let sweep = seen.sweep;
    sweep.check(context)?;
    for cells in sweep.passes {
        for zone in 0..ZONES {
            let round = seen.finished + 1;
            bench.note(Note::RoundStarted { round, cells: cells.len() as u32 })?;
            for (step, cell) in (0..).zip(*cells) {
                let segment = bench.run(&sweep.workload(context, (round, step), zone, *cell))?;
                seen.incidents.see(&segment);
                seen.samples.push(sweep.sample(zone, *cell, &segment));
            }
            seen.finished = round;
        }
    }
    bench.note(Note::RoundsEnded)
}

impl Sweep {
    fn demand(&self, context: &Context<'_>) -> Demand {
        context.demand(self.recommended)
    }

    fn access(&self) -> Access {
        match self.figure {
            Figure::Iops => Access::Random,
            Figure::Throughput => Access::Sequential,
        }
    }

    /// Workload of one cell; `place` is the round and the step in it.
    fn workload(&self, context: &Context<'_>, place: (u32, u32), zone: u32, cell: Cell) -> Workload {
        Workload {
            access: self.access(),
            range: zone_of(context, zone),
            ..context.cell_at(self.demand(context), place.0, place.1, cell)
        }
    }

    fn sample(&self, zone: u32, cell: Cell, segment: &Segment) -> Sample {
        let value = match self.figure {
            Figure::Iops => segment.iops(),
            Figure::Throughput => segment.megabytes_per_second(),
        };
        let mean_ms = segment.mean_latency_ms();
        Sample { zone, cell, value, mean_ms, host_limited: segment.is_host_limited() }
    }

    /// Name of a cell in tables: `RND 4KiB W`, `SEQ 1024KiB R`.
    fn name(&self, cell: Cell) -> String {
        match self.figure {
            Figure::Iops => cell.name(),
            Figure::Throughput => cell.name().replacen("RND", "SEQ", 1),
        }
    }

    /// Number of rounds: zones times passes.
    fn rounds(&self) -> u32 {
        ZONES * self.passes.len() as u32
    }

    /// Checks that each zone holds the largest block of each thread.
    fn check(&self, context: &Context<'_>) -> Result<(), Stop> {
        let largest =
            self.passes.iter().flat_map(|cells| *cells).map(|cell| u64::from(cell.block_bytes)).max();
        let block = largest.unwrap_or(0);
        let threads = match self.figure {
            Figure::Iops => 1,
            // Each thread has a separate part of the zone.
            Figure::Throughput => u64::from(self.demand(context).threads),
        };
        let needed = block * threads;
        if zone_bytes(context) >= needed {
            return Ok(());
        }
        Err(Stop::Failed(format!(
            "{}: each of the {ZONES} zones has {} and must hold a block of {} for each of {threads} threads; \
             the Test AR must be at least {}",
            self.test.name,
            amount_base2(zone_bytes(context)),
            block_size(block),
            amount_base2(needed * u64::from(ZONES))
        )))
    }
}

/// Length of each zone. The remainder at the end, below 512 KiB, is not touched.
fn zone_bytes(context: &Context<'_>) -> u64 {
    let bytes = context.whole_test_range().segment_bytes / u64::from(ZONES);
    bytes - bytes % ZONE_ALIGNMENT_BYTES
}

fn zone_of(context: &Context<'_>, zone: u32) -> Range {
    let length = zone_bytes(context);
    let start_bytes = context.whole_test_range().start_bytes + u64::from(zone) * length;
    Range { start_bytes, ..Range::first(length) }
}
