//! A disk by zones: what TKperf does to hard disks. The range is cut into 128 equal zones, and each is measured by
//! itself, from the first, which is the outer edge of nearly every disk, to the last. There is no purge, no
//! preconditioning and no steady state, so this is never a result of the PTS.

mod pages;

use record::{Access, Note, Range, Segment, Workload};
use stdx::units::{amount_base2, block_size};

use crate::modified::Incidents;
use crate::profile::{Cell, Demand};
use crate::{Bench, Context, Outcome, Stop, Test};

/// Zones of a disk.
pub(crate) const ZONES: u32 = 128;
/// The length of a zone is a multiple of this.
const ZONE_ALIGNMENT_BYTES: u64 = 4096;

/// What is measured in each zone.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub test: &'static Test,
    pub figure: Figure,
    /// The cells of a zone, for each pass over all zones.
    pub passes: &'static [&'static [Cell]],
    pub recommended: Option<Demand>,
    pub outline: &'static str,
    pub purpose: &'static str,
}

/// What a cell is to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Of random I/O.
    Iops,
    /// Of sequential I/O, in MB/s.
    Throughput,
}

/// One finished cell; its segment with all histograms would be too much for each of a thousand.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// From 0.
    zone: u32,
    cell: Cell,
    value: f64,
    mean_ms: Option<f64>,
    host_limited: bool,
}

/// Everything that the test was told, whether it came to its end or not.
struct Seen {
    sweep: &'static Sweep,
    samples: Vec<Sample>,
    /// Zones that are finished, those of all passes together.
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

    /// One cell; `place` is the round and the step in it.
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

    /// As tables name a cell: `RND 4KiB W`, `SEQ 1024KiB R`.
    fn name(&self, cell: Cell) -> String {
        match self.figure {
            Figure::Iops => cell.name(),
            Figure::Throughput => cell.name().replacen("RND", "SEQ", 1),
        }
    }

    /// Zones and passes together: rounds.
    fn rounds(&self) -> u32 {
        ZONES * self.passes.len() as u32
    }

    /// Whether each zone holds the largest block of each thread.
    fn check(&self, context: &Context<'_>) -> Result<(), Stop> {
        let largest =
            self.passes.iter().flat_map(|cells| *cells).map(|cell| u64::from(cell.block_bytes)).max();
        let block = largest.unwrap_or(0);
        let threads = match self.figure {
            Figure::Iops => 1,
            // Each has its own part of the zone.
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

/// Length of each zone. What is left over at the end, below 512 KiB, is not touched.
fn zone_bytes(context: &Context<'_>) -> u64 {
    let bytes = context.whole_test_range().segment_bytes / u64::from(ZONES);
    bytes - bytes % ZONE_ALIGNMENT_BYTES
}

fn zone_of(context: &Context<'_>, zone: u32) -> Range {
    let length = zone_bytes(context);
    let start_bytes = context.whole_test_range().start_bytes + u64::from(zone) * length;
    Range { start_bytes, ..Range::first(length) }
}
