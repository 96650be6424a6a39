//! Tests the loop with a mock kernel that returns scripted results.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::sync_channel;

use record::{Arrivals, DataPattern, Errors, Process, Syncs, ThinkTime, Tolerated};
use stdx::access::{Kind, Order, Pattern, Span};

use super::*;
use crate::load::fill::Fill;
use crate::load::pauses::Pauses;
use crate::load::periodic_syncs::PeriodicSyncs;
use crate::load::recorder::Recording;
use crate::load::schedule::Schedule;
use crate::queue::stamps::Stamps;

/// A mock kernel that returns scripted results, and success when the script ends.
struct Scripted {
    answers: VecDeque<i32>,
    pushed: Vec<(Slot, Access)>,
    /// Every pushed operation, and every wait: `w` for a write, `f` and `d` for the syncs, `.` for a wait.
    calls: String,
    finished: VecDeque<Completion>,
    stamps: Stamps,
    now_ns: u64,
    memory: Vec<u8>,
}

/// Time between two waits and duration of an attempt.
const WAIT_NS: u64 = 1000;
const ATTEMPT_NS: u64 = 100;

impl Queue for Scripted {
    fn buffer(&mut self, _: Slot) -> &mut [u8] {
        &mut self.memory
    }

    fn push(&mut self, slot: Slot, access: Access) {
        assert!(self.pushed.iter().all(|(pushed, _)| *pushed != slot), "one I/O per slot");
        self.pushed.push((slot, access));
        self.calls.push('w');
    }

    fn push_sync(&mut self, slot: Slot, sync: Sync) {
        self.push(slot, Access { read: false, block_bytes: 0, offset_bytes: 0 });
        self.calls.pop();
        self.calls.push(if sync == Sync::Fsync { 'f' } else { 'd' });
    }

    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        self.now_ns += WAIT_NS;
        self.calls.push('.');
        let (started_ns, done_ns) = (self.now_ns, self.now_ns + ATTEMPT_NS);
        for (slot, access) in self.pushed.drain(..) {
            let result = self.answers.pop_front().unwrap_or(access.block_bytes.cast_signed());
            self.finished.push_back(Completion { slot, result, started_ns, done_ns });
        }
        Ok(())
    }

    fn wait_until(&mut self, _: u64) -> io::Result<()> {
        self.wait()
    }

    fn reap(&mut self) -> Option<Completion> {
        self.finished.pop_front()
    }
}

#[test]
fn exactly_the_requested_bytes_of_the_stream_are_drawn() {
    let kind = |block_bytes| Kind { share_percent: 50, order: Order::Random, read_percent: 50, block_bytes };
    let span = Span::contiguous(0, 1 << 20);
    let pattern = Pattern {
        offsets: stdx::access::Offsets::Independent,
        span,
        kinds: vec![kind(512), kind(4096)],
        zones: Vec::new(),
        sequence: None,
        from_block: 0,
        descending: false,
        align_bytes: 0,
    };
    for (amount_bytes, back_every) in
        [0, 1, 512, 100_000, 1 << 20].into_iter().flat_map(|bytes| [(bytes, 2), (bytes, u32::MAX)])
    {
        let mut stream = Stream::new(1, 0, 1, &pattern);
        let mut ahead = Ahead::of(stream.clone(), amount_bytes);
        let (mut left_bytes, mut number) = (amount_bytes, 0);
        while left_bytes > 0 {
            assert!(!ahead.is_over());
            let (request, _) = ahead.next().expect("more requests");
            assert_eq!(request.access(), stream.next_access(), "in order and without omissions");
            number += 1;
            if number % back_every == 0 {
                ahead.give_back(request);
            } else {
                left_bytes = left_bytes.saturating_sub(request.block_bytes().into());
            }
        }
        assert!(ahead.next().is_none() && ahead.is_over(), "{amount_bytes} B");
    }
}

/// The I/O loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Depth,
    WriteBuffers,
    Arrivals,
    Steps,
}

const ALL: [By; 4] = [By::Depth, By::WriteBuffers, By::Arrivals, By::Steps];
/// Number of slots beyond the queue depth, the same for all loops.
const SPARES: u16 = 2;

/// Runs 1000 writes at QD 4. Returns the number of counted I/Os, the number of resubmissions, and the
/// failure.
fn run(answers: Vec<i32>, by: By) -> (u64, u32, Option<Failure>) {
    let (write, repeats, failure) = run_at(4, answers, by);
    (write.count(), repeats, failure)
}

fn run_at(depth: u16, answers: Vec<i32>, by: By) -> (stdx::Histogram, u32, Option<Failure>) {
    let syncs = Syncs { fsync_writes: 100, ..Syncs::NONE };
    let Ran { recording, repeats, failure, .. } = run_with(depth, answers, by, 1000, syncs, None);
    (recording.write, repeats, failure)
}

struct Ran {
    recording: Recording,
    repeats: u32,
    failure: Option<Failure>,
    forgiven: Vec<(i32, u64)>,
    calls: String,
}

/// Runs this many writes. Syncs and pauses apply to the loops that support them.
fn run_with(
    depth: u16,
    answers: Vec<i32>,
    by: By,
    writes: u64,
    syncs: Syncs,
    thinktime: Option<ThinkTime>,
) -> Ran {
    run_tolerating(Tolerated::NONE, depth, answers, by, writes, syncs, thinktime)
}

fn run_tolerating(
    tolerated: Tolerated,
    depth: u16,
    answers: Vec<i32>,
    by: By,
    writes: u64,
    syncs: Syncs,
    thinktime: Option<ThinkTime>,
) -> Ran {
    let (sender, _receiver) = sync_channel(1);
    let (clock, stop) = (Clock::start(), AtomicBool::new(false));
    let pattern = Pattern::plain(Order::Random, 0, 512, Span::contiguous(0, 1 << 20));
    let answers = answers.into();
    let queue = Scripted {
        answers,
        pushed: Vec::new(),
        calls: String::new(),
        finished: VecDeque::new(),
        stamps: Stamps::of(clock),
        now_ns: clock.now_ns(),
        memory: vec![0; 512],
    };
    let mut worker = Worker {
        queue,
        clock,
        ahead: Ahead::of(Stream::new(1, 0, 1, &pattern), writes * 512),
        content: Fill::new(DataPattern::Zero, 1, 0),
        recorder: Recorder::new(1_000_000_000, None, sender),
        depth,
        write_buffers: (by == By::WriteBuffers).then(|| WriteBuffers::new(depth + SPARES, SPARES)),
        deadline_ns: u64::MAX,
        stop: &stop,
        requests: vec![Request::default(); (depth + SPARES).into()],
        failure: None,
        forgiven: Forgiven::of(tolerated),
        repeats: Repeats::reserved(depth),
        late: false,
    };
    let start_ns = clock.now_ns();
    worker.recorder.reserve_syncs();
    worker.recorder.start(start_ns, 0);
    let syncs = PeriodicSyncs::of(syncs);
    match by {
        By::Arrivals => {
            let arrivals = Arrivals { per_second: 1_000_000, divisor: 1, process: Process::Constant };
            worker.run_paced(Schedule::new(arrivals, 1, 0, 1, start_ns), syncs)
        }
        By::Steps => {
            let pauses = thinktime.map(|thinktime| Pauses::of(thinktime, start_ns));
            worker.run_stepped(syncs, pauses, None, None).map(|_| ())
        }
        By::Depth | By::WriteBuffers => worker.run(),
    }
    .expect("a queue");
    let Worker { queue, recorder, failure, forgiven, repeats, .. } = worker;
    let forgiven = forgiven.counts.into_iter().map(|(errno, count, _)| (errno, count)).collect();
    Ran { recording: recorder.finish(), repeats: repeats.count, failure, forgiven, calls: queue.calls }
}

#[test]
fn tolerated_errors_are_counted_and_end_nothing() {
    let errors = Errors::try_from(vec![28, 5]).expect("error numbers");
    let writes = Tolerated { write: errors, ..Tolerated::NONE };
    // Two I/Os fail, and a third transfers only half of its block.
    let answers = vec![512, -libc::ENOSPC, 512, 256, -libc::EIO, -libc::ENOSPC];
    for by in ALL {
        let ran = run_tolerating(writes, 4, answers.clone(), by, 100, Syncs::NONE, None);
        assert!(ran.failure.is_none(), "{by:?}: {:?}", ran.failure);
        assert_eq!(ran.forgiven, [(libc::ENOSPC, 2), (libc::EIO, 1)], "{by:?}");
        assert_eq!((ran.recording.write.count(), ran.recording.write_bytes), (97, 97 * 512 - 256), "{by:?}");
        assert_eq!(ran.recording.tally.failed, [3, 0], "{by:?}");
        for (tolerated, errno) in [(Tolerated::NONE, libc::ENOSPC), (writes, libc::EFBIG)] {
            let ran = run_tolerating(tolerated, 4, vec![512, -errno], by, 100, Syncs::NONE, None);
            assert_eq!(ran.failure.map(|failure| failure.errno), Some(errno), "{by:?}");
        }
        let reads = Tolerated { read: errors, ..Tolerated::NONE };
        let ran = run_tolerating(reads, 4, vec![512, -libc::EIO], by, 100, Syncs::NONE, None);
        assert!(ran.failure.is_some(), "{by:?}: the list of reads does not apply to writes");
    }
}

#[test]
fn syncs_take_their_turn_in_the_queue() {
    let calls = |depth, writes, fsync_writes, fdatasync_writes| {
        let syncs = Syncs { fsync_writes, fdatasync_writes, ..Syncs::NONE };
        let Ran { recording, calls, .. } = run_with(depth, vec![], By::Steps, writes, syncs, None);
        let syncs = calls.chars().filter(|call| "fd".contains(*call)).count() as u64;
        assert_eq!((recording.write.count(), recording.write_bytes), (writes, writes * 512));
        assert_eq!(recording.syncs.map(|syncs| syncs.count()), Some(syncs), "{calls}");
        calls
    };
    assert_eq!(calls(1, 4, 2, 0), "w.w.f.w.w.");
    assert_eq!(calls(4, 6, 2, 0), "wwfw.wfww.", "the sync does not wait for the writes before it");
    assert_eq!(calls(2, 4, 4, 1), "wd.wd.wd.w.");
    let syncs = Syncs { fdatasync_writes: 10, ..Syncs::NONE };
    let paced = run_with(4, vec![], By::Arrivals, 100, syncs, None);
    assert_eq!(paced.calls.replace('.', ""), format!("{}{}", "wwwwwwwwwwd".repeat(9), "w".repeat(10)));
    assert_eq!(paced.recording.write.count(), 100);
}

#[test]
fn a_failed_sync_ends_the_load_and_a_retried_one_counts_from_its_first_attempt() {
    let syncs = Syncs { fsync_writes: 2, ..Syncs::NONE };
    let failed = run_with(1, vec![512, 512, -libc::EIO], By::Steps, 8, syncs, None);
    let failure = failed.failure.expect("a failure");
    assert!(failure.is_sync && failure.errno == libc::EIO && failed.calls == "w.w.f.", "{failure:?}");
    let retried = run_with(1, vec![512, 512, -libc::EINTR], By::Steps, 4, syncs, None);
    let syncs = retried.recording.syncs.expect("reserved");
    assert_eq!((retried.calls.as_str(), retried.repeats), ("w.w.f.f.w.w.", 1));
    assert_eq!((syncs.count(), syncs.max()), (1, Some(WAIT_NS + ATTEMPT_NS)));
    assert!(retried.failure.is_none());
}

#[test]
fn a_pause_begins_when_nothing_is_in_flight() {
    let thinktime =
        ThinkTime { length_ns: 5_000_000, spin_ns: 0, ios: 2, count_issued: true, io_time_ns: None };
    let begin = std::time::Instant::now();
    let ran = run_with(4, vec![], By::Steps, 6, Syncs::NONE, Some(thinktime));
    assert_eq!(ran.calls, "ww.ww.ww.");
    // As in fio, there is also a pause after the last I/O.
    assert!(begin.elapsed() >= std::time::Duration::from_millis(15), "{:?}", begin.elapsed());
    let completed = ThinkTime { count_issued: false, ..thinktime };
    let ran = run_with(4, vec![], By::Steps, 8, Syncs::NONE, Some(completed));
    // As in fio, completions are noticed only when the queue is full.
    assert_eq!(ran.calls, "wwww.wwww.");
}

#[test]
fn an_io_that_the_kernel_asks_to_retry_is_retried_and_counted_once() {
    for by in ALL {
        let answers = [-libc::EAGAIN, -libc::EINTR, -libc::EAGAIN].repeat(100);
        let (counted, repeats, failure) = run(answers, by);
        assert_eq!((counted, repeats), (1000, 300));
        assert!(failure.is_none());
    }
}

#[test]
fn a_retried_io_counts_from_its_first_attempt() {
    for (depth, by) in [(1, By::Depth), (4, By::Depth), (4, By::WriteBuffers)] {
        let first = u64::from(depth);
        // All I/Os that start together are retried twice, so the third attempt completes two waits later.
        let (times, repeats, _) = run_at(depth, vec![-libc::EAGAIN; 2 * usize::from(depth)], by);
        assert_eq!((times.count(), u64::from(repeats)), (1000, 2 * first), "depth {depth}, {by:?}");
        let longest_ns = 2 * WAIT_NS + ATTEMPT_NS;
        assert_eq!((times.max(), times.min()), (Some(longest_ns), Some(ATTEMPT_NS)));
        let sum_ns = first * longest_ns + (1000 - first) * ATTEMPT_NS;
        assert_eq!(times.sum(), u128::from(sum_ns), "no other I/O is affected");
    }
}

#[test]
fn a_retried_io_can_fail_like_any_other() {
    for (answer, transferred_bytes) in [(-libc::EIO, 0), (0, 0), (100, 100)] {
        let (times, repeats, failure) = run_at(1, vec![-libc::EAGAIN, answer], By::Depth);
        let failure = failure.expect("a failure");
        assert_eq!((times.count(), repeats), (0, 1));
        assert_eq!((failure.access.block_bytes, failure.errno), (512, -answer.min(0)));
        assert_eq!(failure.transferred_bytes, transferred_bytes);
    }
}

#[test]
fn endless_retries_are_an_error() {
    for by in ALL {
        let (counted, repeats, failure) = run(vec![-libc::EAGAIN; 20_000], by);
        assert_eq!((counted, repeats), (0, REPEAT_LIMIT));
        assert_eq!(failure.expect("a failure").errno, libc::EAGAIN);
    }
}

#[test]
fn every_failed_io_is_counted_by_its_kind_and_none_as_completed() {
    for by in ALL {
        let mut answers = vec![512; 40];
        answers.extend([-libc::EIO, 100, -libc::EIO, -libc::ENODATA]);
        let (counted, _, failure) = run(answers, by);
        let failure = failure.expect("a failure");
        assert_eq!(failure.errno, libc::EIO);
        let count = |kind| failure.counts.iter().find(|(errno, _)| *errno == kind).map(|(_, count)| *count);
        assert_eq!(count(libc::EIO).map(|n| n > 0), Some(true));
        // I/Os in flight at the first failure also fail; the loop issues no more.
        assert!(failure.counts.iter().map(|(_, count)| count).sum::<u64>() <= 4);
        assert!((40..44).contains(&counted), "{counted}");
    }
}
