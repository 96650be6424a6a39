//! Latency (PTS 1.0 clause 10; PTS-E 1.1 and PTS 2.0 clause 9): random I/O with one I/O outstanding, over three R/W
//! mixes and three block sizes, repeated until the mean response time of 4 KiB writes is steady. PTS 2.0 then records
//! every response time for 20 minutes.

mod pages;

use record::{Purged, Segment, Until, Workload};
use stdx::units::KIB;

use crate::profile::{Cell, Demand, Edition};
use crate::rounds::{Rounds, Tracked, find};
use crate::{Bench, Context, Outcome, Stop, Test, modified};

/// Percentages of reads (outer loop), descending.
const MIXES: [u8; 3] = [100, 65, 0];
/// Block sizes in bytes (inner loop), descending.
const BLOCK_SIZES: [u32; 3] = [8 * KIB as u32, 4 * KIB as u32, 512];
/// The PTS requires one outstanding I/O, because the test measures the response time of a single I/O.
const DEMAND: Demand = Demand { threads: 1, queue_depth: 1 };
/// Cell whose mean response time is the tracking variable.
const TRACKED: Cell = Cell { block_bytes: 4 * KIB as u32, read_percent: 0 };
/// Length of the histogram run.
const HISTOGRAM_MINUTES: u32 = 20;

/// The Latency test.
pub const TEST: Test = Test {
    name: "lat",
    family: "lat",
    title: "Latency",
    about: "response times at one outstanding I/O, 3 R/W mixes x 3 block sizes, rounds to steady state",
    run,
    cells_per_round: (MIXES.len() * BLOCK_SIZES.len()) as u32,
    timeline: false,
    fixed_rounds: None,
};

/// All answers received by the test, whether or not it completed.
struct Seen {
    purge: Option<Purged>,
    precondition: Option<Segment>,
    skipped: Vec<u32>,
    rounds: Rounds,
    histogram: Option<Segment>,
}

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut seen = Seen {
        purge: None,
        precondition: None,
        skipped: context.impossible(&BLOCK_SIZES),
        rounds: Rounds::of(vec![format!("{} average latency", TRACKED.name())]),
        histogram: None,
    };
    let stop = measure(context, bench, &mut seen).err();
    pages::outcome(context, &seen, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, seen: &mut Seen) -> Result<(), Stop> {
    let cells = cells(&seen.skipped);
    for bytes in &seen.skipped {
        bench.note(modified::skip_note(*bytes, context.target))?;
    }
    seen.purge = Some(bench.purge()?);
    seen.precondition = Some(bench.write(&context.precondition())?);
    let workload = |round, step, cell| context.cell_at(DEMAND, round, step, cell);
    let tracked = |segments: &[Segment]| vec![Tracked::of(find(segments, TRACKED), Segment::mean_latency_ms)];
    seen.rounds.repeat(context, bench, &cells, workload, tracked)?;
    if has_histogram(context) {
        seen.histogram = Some(bench.run(&histogram_run(context))?);
    }
    Ok(())
}

/// The cells of a round in the order of the specification, except those that the device does not support.
fn cells(skipped: &[u32]) -> Vec<Cell> {
    MIXES
        .into_iter()
        .flat_map(|read_percent| BLOCK_SIZES.map(|block_bytes| Cell { block_bytes, read_percent }))
        .filter(|cell| !skipped.contains(&cell.block_bytes))
        .collect()
}

fn has_histogram(context: &Context<'_>) -> bool {
    context.profile.edition >= Edition::V2_0
}

/// Rounds start at 1, so round 0 yields offsets that no cell uses.
fn histogram_run(context: &Context<'_>) -> Workload {
    Workload {
        until: Until::DurationNs(context.minutes_ns(HISTOGRAM_MINUTES)),
        ..context.cell_at(DEMAND, 0, 1, TRACKED)
    }
}

fn average_of(segments: &[Segment], cell: Cell) -> Option<f64> {
    find(segments, cell).and_then(Segment::mean_latency_ms)
}

fn maximum_of(segments: &[Segment], cell: Cell) -> Option<f64> {
    find(segments, cell).and_then(Segment::max_latency_ms)
}
