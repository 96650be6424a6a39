//! Tests large writes on a queue that completes I/Os in order, a few at a time.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

use record::{Arrivals, DataPattern, Process, Reducible, Regime, Tolerated, Workload};
use stdx::access::{Access, Stream};

use super::*;
use crate::clock::Clock;
use crate::load::fill::Fill;
use crate::load::forgiven::Forgiven;
use crate::load::recorder::Recorder;
use crate::load::worker::{Ahead, Repeats};
use crate::load::write_buffers::{LARGE_BYTES, spares};
use crate::queue::stamps::Stamps;
use crate::queue::{Completion, Slot, Sync};

const BYTES: u32 = LARGE_BYTES;
const IOS: u64 = 500;

/// Completes the oldest I/Os first: one, two or four per wait, and, in one wait, more than there are spare slots.
struct Slow {
    depth: usize,
    memory: Vec<Vec<u8>>,
    in_flight: VecDeque<(Slot, u32)>,
    submitted: usize,
    done: usize,
    waits: usize,
    stamps: Stamps,
    /// First bytes of each write, in the order of submission.
    written: Vec<[u8; 8]>,
    /// Number of buffers taken while the queue was not full.
    taken_late: usize,
    /// Total number of requested buffers.
    taken: usize,
}

impl Queue for Slow {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(self.in_flight.iter().all(|(busy, _)| *busy != slot), "the slot is in flight");
        self.taken += 1;
        self.taken_late += usize::from(self.waits > 0 && self.submitted < self.depth);
        &mut self.memory[usize::from(slot)]
    }

    fn push(&mut self, slot: Slot, access: Access) {
        self.in_flight.push_back((slot, access.block_bytes));
        assert!(self.in_flight.len() <= self.depth, "deeper than requested");
        if !access.read {
            self.written.push(self.memory[usize::from(slot)][..8].try_into().expect("eight bytes"));
        }
    }

    fn push_sync(&mut self, _: Slot, _: Sync) {
        unreachable!("syncs have their own loop")
    }

    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn flush(&mut self) -> io::Result<()> {
        self.submitted = self.in_flight.len();
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        self.waits += 1;
        self.submitted = self.in_flight.len();
        let completed = [1, 2, 4, 1][self.waits % 4];
        self.done = if self.waits == 40 { self.depth } else { completed }.min(self.submitted);
        self.submitted -= self.done;
        Ok(())
    }

    fn wait_until(&mut self, _: u64) -> io::Result<()> {
        unreachable!("nothing is paced")
    }

    fn reap(&mut self) -> Option<Completion> {
        self.done = self.done.checked_sub(1)?;
        let (slot, bytes) = self.in_flight.pop_front()?;
        let now_ns = self.stamps.now_ns();
        Some(Completion { slot, result: bytes.cast_signed(), started_ns: now_ns, done_ns: now_ns })
    }
}

fn request(read_percent: u8, data_pattern: DataPattern) -> Workload {
    Workload {
        access: record::Access::Random,
        read_percent,
        block_bytes: BYTES,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth: 16,
        range: record::Range::first(64 * u64::from(BYTES)),
        from_block: 0,
        align_bytes: 0,
        data_pattern,
        until: record::Until::AmountBytes(IOS * u64::from(BYTES)),
        seed: 3,
        regime: Regime::default(),
        commands: None,
    }
}

/// Returns the queue after a run and the number of counted I/Os.
fn run(workload: &Workload) -> (Slow, u64) {
    let (sender, _receiver) = sync_channel(1);
    let (clock, stop) = (Clock::start(), AtomicBool::new(false));
    let slots = usize::from(workload.queue_depth + spares(workload));
    let queue = Slow {
        depth: workload.queue_depth.into(),
        memory: vec![vec![0; BYTES as usize]; slots],
        in_flight: VecDeque::new(),
        submitted: 0,
        done: 0,
        waits: 0,
        stamps: Stamps::of(clock),
        written: Vec::new(),
        taken_late: 0,
        taken: 0,
    };
    let mut worker = Worker {
        queue,
        clock,
        ahead: Ahead::of(Stream::new(workload.seed, 0, 1, &workload.pattern()), IOS * u64::from(BYTES)),
        content: Fill::new(workload.data_pattern, workload.seed, 0),
        recorder: Recorder::new(1_000_000_000, None, sender),
        depth: workload.queue_depth,
        write_buffers: WriteBuffers::of(workload),
        deadline_ns: u64::MAX,
        stop: &stop,
        requests: vec![Request::default(); slots],
        failure: None,
        forgiven: Forgiven::of(Tolerated::NONE),
        repeats: Repeats::reserved(workload.queue_depth),
        late: false,
    };
    worker.fill_write_buffers();
    worker.recorder.start(clock.now_ns(), 0);
    worker.run().expect("a queue");
    let Worker { queue, recorder, .. } = worker;
    let notes = recorder.finish();
    (queue, notes.read.count() + notes.write.count())
}

#[test]
fn buffers_are_filled_while_the_queue_is_full() {
    for read_percent in [0, 5, 35, 65, 95] {
        let (queue, counted) = run(&request(read_percent, DataPattern::Random));
        assert_eq!(counted, IOS, "{read_percent} % reads");
        // A buffer is filled late only if more I/Os complete at once than there are spare slots, and even then,
        // only the last one is.
        assert!(queue.taken_late <= 12, "{} of {}, {read_percent} % reads", queue.taken_late, queue.taken);
        // All generated data is written, except at the end.
        assert!((queue.written.len()..=queue.written.len() + 20).contains(&queue.taken));
    }
}

#[test]
fn data_is_written_in_the_order_in_which_it_is_generated() {
    let reducible = Reducible { compressible_percent: 50, dedupable_percent: 30, working_set: None };
    for (read_percent, pattern) in [
        (0, DataPattern::Random),
        (35, DataPattern::Random),
        (0, DataPattern::Reducible(reducible)),
        (65, DataPattern::Reducible(reducible)),
    ] {
        let workload = request(read_percent, pattern);
        let (queue, _) = run(&workload);
        let (mut fill, mut buffer) = (Fill::new(pattern, workload.seed, 0), vec![0; BYTES as usize]);
        for (number, written) in queue.written.iter().enumerate() {
            fill.fill(&mut buffer);
            assert_eq!(written[..], buffer[..8], "write {number}, {read_percent} % reads");
        }
    }
}

#[test]
fn only_deep_queues_of_large_writes_have_spare_buffers() {
    let large = request(0, DataPattern::Random);
    assert_eq!(spares(&large), 4);
    assert_eq!(spares(&Workload { queue_depth: 128, ..large.clone() }), 8);
    assert_eq!(spares(&Workload { queue_depth: 1022, ..large.clone() }), 2);
    let arrivals = Some(Arrivals { per_second: 1, divisor: 1, process: Process::Constant });
    for without in [
        Workload { queue_depth: 1, ..large.clone() },
        Workload { queue_depth: 4096, ..large.clone() },
        Workload { block_bytes: BYTES / 2, ..large.clone() },
        Workload { read_percent: 100, ..large.clone() },
        Workload { regime: Regime { arrivals, ..Regime::default() }, ..large },
    ] {
        assert_eq!(spares(&without), 0, "{without:?}");
        assert!(WriteBuffers::of(&without).is_none());
    }
}
