//! Sustained client write (not part of the PTS): a purged drive is written sequentially until its SLC cache is full
//! and the throughput has settled. Then it is written again after idle times of increasing length, which shows how
//! much of the cache the drive freed.

mod answers;
mod pages;

use record::{Access, Until, Workload};

use crate::conclusions::incidents::Incidents;
use crate::method::fall::{first_fall, intervals};
use crate::method::profile::Cell;
use crate::{Bench, Context, Outcome, Stop, Test};
use answers::{BLOCK_BYTES, CHUNKS, DEMAND, IDLE_MINUTES, INTERVALS, Stretch, WriteAnswers, has_settled};

/// The sustained client write test.
pub const TEST: Test = Test {
    name: "client-write",
    family: "client-write",
    title: "Sustained Client Write",
    subject: "Sustained Client Write",
    about: "not part of the PTS: size of the SLC cache, sequential writes in and after it, recovery in 1 to 60 min idle",
    run,
    cells_per_round: CHUNKS,
    round_name: "round",
    timeline: true,
    fixed_rounds: None,
    tracked_unit: None,
};

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut answers = WriteAnswers::default();
    let stop = measure(context, bench, &mut answers).err();
    pages::outcome(&TEST, context, &answers, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, answers: &mut WriteAnswers) -> Result<(), Stop> {
    answers.purge = Some(bench.purge()?);
    // Each write continues where the previous write ended.
    let mut chunks = 0;
    for _ in 0..CHUNKS {
        write(context, bench, (1, &mut chunks), &mut answers.fresh, &mut answers.incidents)?;
        if has_settled(&answers.fresh, first_fall(&answers.fresh.intervals)) {
            break;
        }
    }
    answers.fresh.complete = true;
    for (index, minutes) in IDLE_MINUTES.into_iter().enumerate() {
        bench.idle(context.minutes_ns(minutes))?;
        answers.bursts.push(Stretch::default());
        let settled = answers.sustained();
        let burst = answers.bursts.last_mut().expect("just added");
        for _ in 0..CHUNKS {
            write(context, bench, (2 + index as u32, &mut chunks), burst, &mut answers.incidents)?;
            if burst.has_returned_to(settled) {
                break;
            }
        }
        burst.complete = true;
    }
    Ok(())
}

fn write(
    context: &Context<'_>,
    bench: &mut dyn Bench,
    (round, chunks): (u32, &mut u32),
    stretch: &mut Stretch,
    incidents: &mut Incidents,
) -> Result<(), Stop> {
    let segment = bench.run(&workload(context, round, *chunks))?;
    *chunks += 1;
    incidents.see(&segment);
    stretch.add(intervals(&segment, INTERVALS), segment.is_host_limited());
    Ok(())
}

/// Chunks are fixed parts of the test range, so that no data is overwritten before the whole range has been written.
fn workload(context: &Context<'_>, round: u32, chunk: u32) -> Workload {
    let demand = context.demand(Some(DEMAND));
    let range = context.whole_test_range();
    let threads = u64::from(demand.threads.max(1));
    let blocks = range.segment_bytes / u64::from(BLOCK_BYTES) / u64::from(CHUNKS) / threads;
    let cell = Cell { block_bytes: BLOCK_BYTES, read_percent: 0 };
    Workload {
        access: Access::Sequential,
        range,
        from_block: blocks * u64::from(chunk),
        until: Until::AmountBytes(blocks * threads * u64::from(BLOCK_BYTES)),
        ..context.cell_at(demand, round, chunk, cell)
    }
}
