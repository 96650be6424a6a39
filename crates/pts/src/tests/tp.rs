//! Throughput (PTS 1.0 clause 9; PTS-E 1.1 and PTS 2.0 clause 8): sequential reads and writes of one block size,
//! repeated until the writes are steady. Each block size is a separate test with its own purge, rounds and pages.

mod answers;
mod pages;

use record::{Access, Segment, Workload};
use stdx::units::{KIB, block_size};

use crate::flows::continued::requested_blocks;
use crate::flows::rounds::{Round, Rounds, find};
use crate::method::history::Tracked;
use crate::method::profile::Cell;
use crate::{Bench, Context, Outcome, Stop, Test, Unit};
use answers::{ThroughputAnswers, demand, precondition_block};

/// Percentages of reads; the minute of reads comes first.
const MIXES: [u8; 2] = [100, 0];
const LARGE: u32 = 1024 * KIB as u32;
const SMALL: u32 = 128 * KIB as u32;

/// The Throughput test with 1024 KiB blocks.
pub const TEST_1024: Test = Test {
    name: "tp-1024",
    family: "tp",
    title: "Throughput Test 1024KiB",
    subject: "Throughput",
    about: "sequential throughput of 1024 KiB reads and writes, rounds to steady state",
    run: |context, bench| run(LARGE, &TEST_1024, context, bench),
    cells_per_round: 2,
    round_name: "round",
    timeline: false,
    fixed_rounds: None,
    tracked_unit: Some(Unit::MegabytesPerSecond),
};

/// The Throughput test with 128 KiB blocks.
pub const TEST_128: Test = Test {
    name: "tp-128",
    family: "tp",
    title: "Throughput Test 128KiB",
    subject: "Throughput",
    about: "sequential throughput of 128 KiB reads and writes, rounds to steady state",
    run: |context, bench| run(SMALL, &TEST_128, context, bench),
    cells_per_round: 2,
    round_name: "round",
    timeline: false,
    fixed_rounds: None,
    tracked_unit: Some(Unit::MegabytesPerSecond),
};

fn run(block_bytes: u32, test: &'static Test, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let variable = format!("SEQ {} W", block_size(u64::from(block_bytes)));
    let mut answers = ThroughputAnswers {
        test,
        block_bytes,
        purge: None,
        precondition: None,
        rounds: Rounds::of(vec![variable]),
    };
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(context, &answers, stop)
}

fn measure(
    context: &Context<'_>,
    bench: &mut dyn Bench,
    answers: &mut ThroughputAnswers,
) -> Result<(), Stop> {
    answers.purge = Some(bench.purge()?);
    let block_written = precondition_block(context, answers);
    answers.precondition = Some(bench.write(&context.precondition_at(demand(context), block_written))?);
    let block_bytes = answers.block_bytes;
    let workload = |done: &[Round], round, step, read_percent| {
        let cell = Cell { block_bytes, read_percent };
        let from_block = blocks_before(done, cell);
        Workload { from_block, ..workload(context, round, step, cell) }
    };
    let tracked = |segments: &[Segment]| {
        let writes = find(segments, Cell { block_bytes, read_percent: 0 });
        vec![Tracked::of(writes, |segment| Some(segment.megabytes_per_second()))]
    };
    answers.rounds.repeat(context, bench, &MIXES, workload, tracked)
}

fn workload(context: &Context<'_>, round: u32, step: u32, cell: Cell) -> Workload {
    Workload { access: Access::Sequential, ..context.cell_at(demand(context), round, step, cell) }
}

/// Returns the number of blocks that each thread requested in earlier cells of the same direction, whether completed
/// or in flight at the end. Reads and writes are two streams, each of which covers the whole range over time.
fn blocks_before(done: &[Round], cell: Cell) -> u64 {
    done.iter().filter_map(|round| find(&round.segments, cell)).map(requested_blocks).sum()
}
