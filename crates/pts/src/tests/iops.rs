//! IOPS (PTS 1.0 clause 8, PTS 2.0 clause 7): random I/O over seven R/W mixes and eight block sizes,
//! repeated until the tracking variables are steady.

mod pages;

use record::{Purged, Segment};
use stdx::units::KIB;

use crate::profile::Cell;
use crate::rounds::{Rounds, Tracked, find};
use crate::{Bench, Context, Outcome, Stop, Test, modified};

/// Percentages of reads (outer loop), descending.
const MIXES: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
/// Block sizes in bytes (inner loop), descending.
const BLOCK_SIZES: [u32; 8] = [
    1024 * KIB as u32,
    128 * KIB as u32,
    64 * KIB as u32,
    32 * KIB as u32,
    16 * KIB as u32,
    8 * KIB as u32,
    4 * KIB as u32,
    512,
];

/// The IOPS test.
pub const TEST: Test = Test {
    name: "iops",
    family: "iops",
    title: "IOPS",
    about: "random IOPS, 7 R/W mixes x 8 block sizes, rounds to steady state",
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
}

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut seen = Seen {
        purge: None,
        precondition: None,
        skipped: context.impossible(&BLOCK_SIZES),
        rounds: Rounds::of(context.profile.iops_tracking.iter().map(|cell| cell.name()).collect()),
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
    let workload = |round, step, cell: Cell| context.cell(round, step, cell.read_percent, cell.block_bytes);
    let tracked = |segments: &[Segment]| {
        let value = |cell: &Cell| Tracked::of(find(segments, *cell), |segment| Some(segment.iops()));
        context.profile.iops_tracking.iter().map(value).collect()
    };
    seen.rounds.repeat(context, bench, &cells, workload, tracked)
}

/// The cells of a round in the order of the specification, except those that the device does not support.
fn cells(skipped: &[u32]) -> Vec<Cell> {
    MIXES
        .into_iter()
        .flat_map(|read_percent| BLOCK_SIZES.map(|block_bytes| Cell { block_bytes, read_percent }))
        .filter(|cell| !skipped.contains(&cell.block_bytes))
        .collect()
}

fn iops_of(segments: &[Segment], cell: Cell) -> Option<f64> {
    find(segments, cell).map(Segment::iops)
}
