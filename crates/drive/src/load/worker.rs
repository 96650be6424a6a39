//! The loop of one thread: keep the queue full, note what comes back.
//!
//! Between start and end it does not allocate, lock, log or branch on configuration, and the only
//! system calls are those of its queue.

use std::sync::atomic::{AtomicBool, Ordering};

use stdx::access::{Access, Stream};

use super::content::Content;
use super::recorder::Recorder;
use crate::clock::Clock;
use crate::queue::stamps::Took;
use crate::queue::{Completion, Queue, REFILL_BATCH, Slot};

/// Times that an I/O which the kernel asks to repeat is repeated, over the whole run of a worker.
const REPEAT_LIMIT: u32 = 10_000;

/// The first I/O that failed, and how many did.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) access: Access,
    pub(crate) at_ns: u64,
    /// Positive error number; 0 for an I/O that was cut short.
    pub(crate) errno: i32,
    /// Bytes transferred of one that was cut short.
    pub(crate) transferred_bytes: u32,
    /// Failed I/Os by error number, in order of their first appearance.
    pub(crate) counts: Vec<(i32, u64)>,
}

/// An access in two words. As a whole it comes out of the generator through memory, field by field, and a processor
/// that loads such fields at once waits for all of them to arrive: a third of what an I/O cost in this loop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Request {
    offset_bytes: u64,
    /// Twice the length, and one for a read.
    length_and_read: u64,
}

impl Request {
    #[inline]
    fn of(access: Access) -> Self {
        let length_and_read = u64::from(access.block_bytes) << 1 | u64::from(access.read);
        Self { offset_bytes: access.offset_bytes, length_and_read }
    }

    #[inline]
    pub(crate) fn block_bytes(self) -> u32 {
        (self.length_and_read >> 1) as u32
    }

    #[inline]
    fn access(self) -> Access {
        let read = self.length_and_read & 1 != 0;
        Access { read, block_bytes: self.block_bytes(), offset_bytes: self.offset_bytes }
    }
}

/// Accesses drawn at a time.
const DRAWN_AHEAD: usize = 64;

/// What is still to be asked for. Requests are drawn before they are needed: many at once are drawn in registers, where
/// one at a time takes the generator from memory and puts it back.
pub(crate) struct Ahead {
    stream: Stream,
    /// Bytes of the amount that come on top of those of the requests that are drawn. The last request may be longer than
    /// what was left; then this is negative.
    left_bytes: i64,
    /// What is left stands in front, the next one last.
    drawn: Box<[Request; DRAWN_AHEAD]>,
    left: usize,
    /// So many of these are beyond the amount.
    beyond: usize,
}

impl Ahead {
    /// As much of the stream as so many bytes; `u64::MAX` when only the deadline ends the run.
    pub(crate) fn of(stream: Stream, amount_bytes: u64) -> Self {
        let left_bytes = i64::try_from(amount_bytes).unwrap_or(i64::MAX);
        Self { stream, left_bytes, drawn: Box::new([Request::default(); DRAWN_AHEAD]), left: 0, beyond: 0 }
    }

    /// Whether there is nothing left.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.left == self.beyond && self.left_bytes <= 0
    }

    /// Nothing is left from here on.
    pub(crate) fn end(&mut self) {
        (self.beyond, self.left_bytes) = (self.left, 0);
    }

    #[inline]
    fn next(&mut self) -> Option<(Request, Took)> {
        let mut took = Took::NoTime;
        if self.left == self.beyond {
            self.more();
            if self.left == self.beyond {
                return None;
            }
            took = Took::Time;
        }
        self.left -= 1;
        // The remainder is the same, and the compiler sees that it is inside.
        Some((self.drawn[self.left % DRAWN_AHEAD], took))
    }

    /// The latest one is not asked for.
    #[cold]
    fn give_back(&mut self, request: Request) {
        self.left_bytes += i64::from(request.block_bytes());
    }

    /// Looks for requests within the amount.
    #[inline(never)]
    fn more(&mut self) {
        if self.left_bytes <= 0 {
            return;
        }
        if self.left == 0 {
            let bytes = self.draw();
            if bytes <= self.left_bytes {
                (self.left_bytes, self.beyond) = (self.left_bytes - bytes, 0);
                return;
            }
        }
        self.beyond = self.left;
        while self.beyond > 0 && self.left_bytes > 0 {
            self.beyond -= 1;
            self.left_bytes -= i64::from(self.drawn[self.beyond].block_bytes());
        }
    }

    /// Draws requests; their bytes.
    #[inline]
    fn draw(&mut self) -> i64 {
        let Self { stream, drawn, left, .. } = self;
        let (mut places, mut bytes) = (drawn.iter_mut().rev(), 0);
        stream.draw(DRAWN_AHEAD, |access| {
            if let Some(place) = places.next() {
                *place = Request::of(access);
                bytes += i64::from(access.block_bytes);
            }
        });
        *left = DRAWN_AHEAD;
        bytes
    }
}

/// Everything that a worker needs for its loop.
pub(crate) struct Worker<'a, Q, C> {
    pub(crate) queue: Q,
    pub(crate) clock: Clock,
    pub(crate) ahead: Ahead,
    pub(crate) content: C,
    pub(crate) recorder: Recorder,
    pub(crate) depth: u16,
    /// `u64::MAX` when only the amount ends the run.
    pub(crate) deadline_ns: u64,
    /// Set by anyone who wants all workers to end.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) requests: Vec<Request>,
    pub(crate) failure: Option<Failure>,
    pub(crate) repeats: u32,
    /// An I/O came back behind the deadline.
    pub(crate) late: bool,
}

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Runs to the end. Every I/O is back when this returns, unless the queue itself failed.
    pub(crate) fn run(&mut self) -> std::io::Result<()> {
        if self.depth == 1 { self.run_single() } else { self.run_deep() }
    }

    /// One I/O after the other. Where nothing that takes time lies between two of them, the end of one is the start of
    /// the next.
    fn run_single(&mut self) -> std::io::Result<()> {
        let mut requests = std::mem::take(&mut self.requests);
        let mut again = self.issue(0, &mut requests).is_some();
        while again {
            self.queue.wait()?;
            let Some(done) = self.queue.reap() else { continue };
            self.look_at_stop();
            let request = requests[0];
            if done.result != request.block_bytes().cast_signed() {
                again = self.not_done(request, done.slot, done.result, done.done_ns);
                continue;
            }
            let noted = self.count(request, done);
            let issued = self.issue(0, &mut requests);
            again = issued.is_some();
            if issued.is_some_and(|issued| noted.and(issued) == Took::NoTime) {
                self.queue.stamps().carry(done.done_ns);
            }
        }
        Ok(())
    }

    /// Keeps so many I/Os in flight. The work for all that came back together lies between two on one slot, so each
    /// starts with a stamp of its own.
    fn run_deep(&mut self) -> std::io::Result<()> {
        let mut requests = std::mem::take(&mut self.requests);
        let mut in_flight = 0u32;
        for slot in 0..self.depth {
            if self.issue(slot, &mut requests).is_none() {
                break;
            }
            in_flight += 1;
            if in_flight.is_multiple_of(REFILL_BATCH) {
                self.queue.flush()?;
            }
        }
        while in_flight > 0 {
            self.queue.wait()?;
            self.look_at_stop();
            let refill_batch = self.queue.refill_batch();
            let mut to_refill = refill_batch;
            while let Some(done) = self.queue.reap() {
                let request = requests[usize::from(done.slot)];
                let again = if done.result == request.block_bytes().cast_signed() {
                    self.count(request, done);
                    self.issue(done.slot, &mut requests).is_some()
                } else {
                    self.not_done(request, done.slot, done.result, done.done_ns)
                };
                if !again {
                    in_flight -= 1;
                    continue;
                }
                to_refill -= 1;
                if to_refill == 0 {
                    self.queue.refill()?;
                    to_refill = refill_batch;
                }
            }
        }
        Ok(())
    }

    /// Where somebody wants an end there is nothing left to ask for.
    #[inline]
    fn look_at_stop(&mut self) {
        if self.stop.load(Ordering::Relaxed) {
            self.ahead.end();
        }
    }

    /// Notes a completed I/O; the first one that is late is the end.
    #[inline]
    pub(crate) fn count(&mut self, request: Request, done: Completion) -> Took {
        let access = request.access();
        let took = self.content.back(access, done.slot, &mut self.queue);
        if done.done_ns >= self.deadline_ns {
            self.late = true;
            self.ahead.end();
            return took;
        }
        took.and(self.recorder.record(access, done.started_ns, done.done_ns))
    }

    /// Starts the next I/O on this slot, if there is one left.
    #[inline(always)]
    pub(crate) fn issue(&mut self, slot: Slot, requests: &mut [Request]) -> Option<Took> {
        let (mut request, mut took) = self.ahead.next()?;
        while !self.content.admits(request.access()) {
            self.ahead.give_back(request);
            (request, _) = self.ahead.next()?;
            took = Took::Time;
        }
        let access = request.access();
        requests[usize::from(slot)] = request;
        took = took.and(self.content.prepare(access, slot, &mut self.queue));
        self.queue.push(slot, access);
        Some(took)
    }

    /// An I/O that failed ends the run of all workers, except when the kernel asks to repeat it.
    #[cold]
    pub(crate) fn not_done(&mut self, request: Request, slot: Slot, result: i32, done_ns: u64) -> bool {
        let access = request.access();
        let errno = result.min(0).unsigned_abs().cast_signed();
        if matches!(errno, libc::EAGAIN | libc::EINTR) && self.repeats < REPEAT_LIMIT {
            self.repeats += 1;
            self.queue.push(slot, access);
            return true;
        }
        self.stop.store(true, Ordering::Relaxed);
        self.ahead.end();
        let failure = self.failure.get_or_insert_with(|| Failure {
            access,
            at_ns: done_ns,
            errno,
            transferred_bytes: result.max(0).unsigned_abs(),
            counts: Vec::new(),
        });
        match failure.counts.iter_mut().find(|(kind, _)| *kind == errno) {
            Some((_, count)) => *count += 1,
            None => failure.counts.push((errno, 1)),
        }
        false
    }
}

#[cfg(test)]
mod starts;

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;
    use std::sync::mpsc::sync_channel;

    use record::{Arrivals, DataPattern, Process};
    use stdx::access::{Kind, Order, Pattern, Span};

    use super::*;
    use crate::load::fill::Fill;
    use crate::load::schedule::Schedule;
    use crate::queue::stamps::Stamps;

    /// A kernel that answers by a script, and with success when that is over.
    struct Scripted {
        answers: VecDeque<i32>,
        pushed: Vec<(Slot, Access)>,
        finished: VecDeque<Completion>,
        stamps: Stamps,
        memory: Vec<u8>,
    }

    impl Queue for Scripted {
        fn buffer(&mut self, _: Slot) -> &mut [u8] {
            &mut self.memory
        }

        fn push(&mut self, slot: Slot, access: Access) {
            assert!(self.pushed.iter().all(|(pushed, _)| *pushed != slot), "one I/O per slot");
            self.pushed.push((slot, access));
        }

        fn stamps(&mut self) -> &mut Stamps {
            &mut self.stamps
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn wait(&mut self) -> io::Result<()> {
            let now_ns = self.stamps.now_ns();
            for (slot, access) in self.pushed.drain(..) {
                let result = self.answers.pop_front().unwrap_or(access.block_bytes.cast_signed());
                self.finished.push_back(Completion { slot, result, started_ns: now_ns, done_ns: now_ns });
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
    fn as_many_bytes_of_the_stream_are_asked_for_as_are_wanted() {
        let kind =
            |block_bytes| Kind { share_percent: 50, order: Order::Random, read_percent: 50, block_bytes };
        let span = Span::contiguous(0, 1 << 20);
        let pattern = Pattern { span, kinds: vec![kind(512), kind(4096)], zones: Vec::new() };
        for (wanted_bytes, back_every) in
            [0, 1, 512, 100_000, 1 << 20].into_iter().flat_map(|bytes| [(bytes, 2), (bytes, u32::MAX)])
        {
            let mut stream = Stream::new(1, 0, 1, &pattern);
            let mut ahead = Ahead::of(stream.clone(), wanted_bytes);
            let (mut left_bytes, mut number) = (wanted_bytes, 0);
            while left_bytes > 0 {
                assert!(!ahead.is_over());
                let (request, _) = ahead.next().expect("more to ask for");
                assert_eq!(
                    request.access(),
                    stream.next_access(),
                    "one after the other, and none is left out"
                );
                number += 1;
                if number % back_every == 0 {
                    ahead.give_back(request);
                } else {
                    left_bytes = left_bytes.saturating_sub(request.block_bytes().into());
                }
            }
            assert!(ahead.next().is_none() && ahead.is_over(), "{wanted_bytes} B");
        }
    }

    /// What comes of 1000 writes at depth 4: counted ones, ones that were repeated, and the failure.
    fn run(answers: Vec<i32>, paced: bool) -> (u64, u32, Option<Failure>) {
        let (sender, _receiver) = sync_channel(1);
        let (clock, stop) = (Clock::start(), AtomicBool::new(false));
        let pattern = Pattern::plain(Order::Random, 0, 512, Span::contiguous(0, 1 << 20));
        let answers = answers.into();
        let queue = Scripted {
            answers,
            pushed: Vec::new(),
            finished: VecDeque::new(),
            stamps: Stamps::of(clock),
            memory: vec![0; 512],
        };
        let mut worker = Worker {
            queue,
            clock,
            ahead: Ahead::of(Stream::new(1, 0, 1, &pattern), 1000 * 512),
            content: Fill::new(DataPattern::Zero, 1, 0),
            recorder: Recorder::new(1_000_000_000, None, sender),
            depth: 4,
            deadline_ns: u64::MAX,
            stop: &stop,
            requests: vec![Request::default(); 4],
            failure: None,
            repeats: 0,
            late: false,
        };
        let start_ns = clock.now_ns();
        worker.recorder.start(start_ns, 0);
        if paced {
            let arrivals = Arrivals { per_second: 1_000_000, process: Process::Constant };
            worker.run_paced(Schedule::new(arrivals, 1, 0, 1, start_ns)).expect("a queue");
        } else {
            worker.run().expect("a queue");
        }
        (worker.recorder.finish().write.count(), worker.repeats, worker.failure)
    }

    #[test]
    fn what_the_kernel_asks_to_repeat_is_repeated_and_counted_once() {
        for paced in [false, true] {
            let answers = [-libc::EAGAIN, -libc::EINTR, -libc::EAGAIN].repeat(100);
            let (counted, repeats, failure) = run(answers, paced);
            assert_eq!((counted, repeats), (1000, 300));
            assert!(failure.is_none());
        }
    }

    #[test]
    fn what_is_asked_to_repeat_for_ever_is_an_error() {
        for paced in [false, true] {
            let (counted, repeats, failure) = run(vec![-libc::EAGAIN; 20_000], paced);
            assert_eq!((counted, repeats), (0, REPEAT_LIMIT));
            assert_eq!(failure.expect("a failure").errno, libc::EAGAIN);
        }
    }

    #[test]
    fn every_failed_io_is_counted_by_its_kind_and_none_as_done() {
        for paced in [false, true] {
            let mut answers = vec![512; 40];
            answers.extend([-libc::EIO, 100, -libc::EIO, -libc::ENODATA]);
            let (counted, _, failure) = run(answers, paced);
            let failure = failure.expect("a failure");
            assert_eq!(failure.errno, libc::EIO);
            let count =
                |kind| failure.counts.iter().find(|(errno, _)| *errno == kind).map(|(_, count)| *count);
            assert_eq!(count(libc::EIO).map(|n| n > 0), Some(true));
            // What was in flight beside the first failure; the loop asks for no more.
            assert!(failure.counts.iter().map(|(_, count)| count).sum::<u64>() <= 4);
            assert!((40..44).contains(&counted), "{counted}");
        }
    }
}
