//! Checks, for every engine, whether response times start at the end of the previous I/O or at a new clock
//! reading.

use std::collections::HashSet;
use std::os::fd::AsRawFd as _;
use std::sync::mpsc::sync_channel;

use record::{DataPattern, Range, Regime, Tolerated, Until, Workload};
use stdx::access::Stream;

use super::*;
use crate::load::content::Stamped;
use crate::load::fill::Fill;
use crate::load::write_buffers;
use crate::options::Polling;
use crate::queue::Shape;
use crate::queue::aio::Aio;
use crate::queue::null::Null;
use crate::queue::operation::{NoOp, Transfer};
use crate::queue::stamps::Stamps;
use crate::queue::threads::Threads;
use crate::queue::uring::Uring;

const BIG_BYTES: u32 = 1 << 20;
/// Filling the buffers takes longer than this on every CPU.
const LEAST_NS: u64 = 5_000;

/// A clock, and the length of an interval by this clock.
#[derive(Clone, Copy)]
struct Timing {
    clock: Clock,
    interval_ns: u64,
}

impl Timing {
    fn real() -> Self {
        Self { clock: Clock::start(), interval_ns: 100_000 }
    }

    /// An interval contains a few dozen I/Os.
    fn of_readings() -> Self {
        Self { clock: Clock::of_readings(), interval_ns: 100 }
    }
}

/// A queue that also records all of its completions.
struct Noted<Q> {
    inner: Q,
    back: Vec<Completion>,
}

impl<Q: Queue> Queue for Noted<Q> {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.inner.buffer(slot)
    }

    fn push(&mut self, slot: Slot, access: Access) {
        self.inner.push(slot, access);
    }

    fn push_sync(&mut self, slot: Slot, sync: Sync) {
        self.inner.push_sync(slot, sync);
    }

    fn stamps(&mut self) -> &mut Stamps {
        self.inner.stamps()
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }

    fn wait(&mut self) -> std::io::Result<()> {
        self.inner.wait()
    }

    fn wait_until(&mut self, until_ns: u64) -> std::io::Result<()> {
        self.inner.wait_until(until_ns)
    }

    fn reap(&mut self) -> Option<Completion> {
        let done = self.inner.reap()?;
        self.back.push(done);
        Some(done)
    }

    fn refill(&mut self) -> std::io::Result<()> {
        self.inner.refill()
    }

    fn refill_batch(&self) -> u32 {
        self.inner.refill_batch()
    }
}

/// Returns random I/Os over a range of eight blocks.
fn request(read_percent: u8, block_bytes: u32, queue_depth: u16, ios: u64) -> Workload {
    Workload {
        access: record::Access::Random,
        read_percent,
        block_bytes,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth,
        range: Range::first(8 * u64::from(block_bytes)),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::AmountBytes(ios * u64::from(block_bytes)),
        seed: 1,
        regime: Regime::default(),
        commands: None,
    }
}

/// The start of a run and all its completions.
struct TimedRun {
    way: &'static str,
    start_ns: u64,
    back: Vec<Completion>,
}

fn timed_run<Q: Queue, C: Content>(
    way: &'static str,
    queue: Q,
    timing: Timing,
    workload: &Workload,
) -> TimedRun {
    let Timing { clock, interval_ns } = timing;
    let (sender, _receiver) = sync_channel(1);
    let stop = AtomicBool::new(false);
    let Until::AmountBytes(left_bytes) = workload.until else { unreachable!("an amount was requested") };
    let mut worker = Worker {
        queue: Noted { inner: queue, back: Vec::new() },
        clock,
        ahead: Ahead::of(Stream::new(1, 0, 1, &workload.pattern()), left_bytes),
        content: C::new(workload, 0, None),
        recorder: Recorder::new(interval_ns, None, sender),
        depth: workload.queue_depth,
        write_buffers: WriteBuffers::of(workload),
        deadline_ns: u64::MAX,
        stop: &stop,
        requests: vec![Request::default(); (workload.queue_depth + write_buffers::spares(workload)).into()],
        failure: None,
        forgiven: Forgiven::of(Tolerated::NONE),
        repeats: Repeats::reserved(workload.queue_depth),
        late: false,
    };
    let start_ns = clock.now_ns();
    worker.recorder.start(start_ns, 0);
    worker.fill_write_buffers();
    worker.run().expect("a queue");
    assert!(worker.failure.is_none(), "{way}: {:?}", worker.failure);
    assert_eq!(worker.queue.back.len() as u64, left_bytes / u64::from(workload.block_bytes), "{way}");
    TimedRun { way, start_ns, back: worker.queue.back }
}

/// Runs the same workload on every engine that this host supports.
fn timed_runs<C: Content>(timing: Timing, workload: &Workload) -> Vec<TimedRun> {
    let file = tempfile::tempfile().expect("a file");
    file.set_len(workload.range.segment_bytes).expect("room");
    let shape = Shape {
        fd: file.as_raw_fd(),
        depth: workload.queue_depth,
        spares: write_buffers::spares(workload),
        block_bytes: workload.block_bytes,
        each_write: None,
        trims: false,
        zoned: false,
        atomic: false,
        apart: workload.has_adjacent_ios(),
        thread: 0,
        space: None,
        clock: timing.clock,
        polling: Polling::No,
    };
    let mut all = vec![
        timed_run::<_, C>("null", Null::new(shape).expect("memory"), timing, workload),
        timed_run::<_, C>("pread and pwrite", Threads::new(shape).expect("threads"), timing, workload),
    ];
    match Aio::new(shape) {
        Ok(queue) => all.push(timed_run::<_, C>("libaio", queue, timing, workload)),
        Err(error) => println!("no libaio on this host: {error}"),
    }
    match (Uring::<Transfer>::new(shape, ()), Uring::<NoOp>::new(shape, ())) {
        (Ok((ring, _)), Ok((no_op, _))) => {
            all.push(timed_run::<_, C>("io_uring", ring, timing, workload));
            all.push(timed_run::<_, C>("no-op ring", no_op, timing, workload));
        }
        (Err(error), _) | (_, Err(error)) => println!("no ring on this host: {error}"),
    }
    all
}

#[test]
fn without_work_in_between_the_end_of_an_io_is_the_start_of_the_next() {
    let timing = Timing::of_readings();
    for TimedRun { way, start_ns, back } in timed_runs::<Fill>(timing, &request(100, 512, 1, 1000)) {
        let intervals = |number: usize| (back[number].done_ns - start_ns) / timing.interval_ns;
        let mut carried = 0;
        for number in 1..back.len() {
            let drew = number.is_multiple_of(DRAWN_AHEAD);
            let closed = intervals(number - 1) > if number == 1 { 0 } else { intervals(number - 2) };
            let (ended_ns, started_ns) = (back[number - 1].done_ns, back[number].started_ns);
            if drew || closed {
                assert!(started_ns > ended_ns, "{way}, I/O {number}");
            } else {
                assert_eq!(started_ns, ended_ns, "{way}, I/O {number}");
                carried += 1;
            }
        }
        assert!(carried > 0, "{way}: an interval ended after every I/O");
    }
}

#[test]
fn generating_and_checking_data_is_not_part_of_any_response_time() {
    let check = |all: Vec<TimedRun>, least_ns: u64| {
        for TimedRun { way, back, .. } in all {
            for pair in back.windows(2) {
                let between_ns = pair[1].started_ns.saturating_sub(pair[0].done_ns);
                assert!(between_ns >= least_ns, "{way}: {between_ns} ns");
            }
        }
    };
    for data_pattern in [DataPattern::Random, DataPattern::Zero] {
        let request = Workload { data_pattern, ..request(0, BIG_BYTES, 1, 20) };
        check(timed_runs::<Fill>(Timing::real(), &request), LEAST_NS);
    }
    check(timed_runs::<Stamped>(Timing::real(), &request(0, BIG_BYTES, 1, 20)), LEAST_NS);
    // Data without a stamp is recognised by its first bytes, so checking it takes little time.
    check(timed_runs::<Stamped>(Timing::of_readings(), &request(100, BIG_BYTES, 1, 20)), 1);
}

#[test]
fn at_larger_depths_every_start_is_read_from_the_clock() {
    let timed_run = |workload: &Workload| timed_runs::<Fill>(Timing::of_readings(), workload);
    let small = timed_run(&request(100, 512, 4, 1000));
    // Large writes from spare buffers: writes only, mixed with reads, and stamped.
    let large = [0, 50].map(|reads| timed_run(&request(reads, BIG_BYTES, 4, 40)));
    let stamped = timed_runs::<Stamped>(Timing::of_readings(), &request(0, BIG_BYTES / 8, 2, 40));
    for TimedRun { way, back, .. } in small.into_iter().chain(large.into_iter().flatten()).chain(stamped) {
        let ends: HashSet<u64> = back.iter().map(|done| done.done_ns).collect();
        assert!(back.iter().all(|done| !ends.contains(&done.started_ns)), "{way}");
    }
}
