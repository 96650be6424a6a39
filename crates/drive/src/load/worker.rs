//! The loop of one thread: keep the queue full, note what comes back.
//!
//! Between start and end it does not allocate, lock, log or branch on configuration, and the only
//! system calls are those of its queue.

use std::sync::atomic::{AtomicBool, Ordering};

use stdx::access::{Access, Stream};

use super::content::Content;
use super::recorder::Recorder;
use crate::clock::Clock;
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
    fn block_bytes(self) -> u32 {
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

/// Requests of a stream, drawn before they are needed: many at once are drawn in registers, where one at a time
/// takes the generator from memory and puts it back.
pub(crate) struct Ahead {
    stream: Stream,
    drawn: Box<[Request; DRAWN_AHEAD]>,
    next: usize,
}

impl Ahead {
    pub(crate) fn of(stream: Stream) -> Self {
        Self { stream, drawn: Box::new([Request::default(); DRAWN_AHEAD]), next: DRAWN_AHEAD }
    }

    #[inline]
    fn next(&mut self) -> Request {
        if self.next == DRAWN_AHEAD {
            self.draw();
        }
        let request = self.drawn[self.next];
        self.next += 1;
        request
    }

    #[inline(never)]
    fn draw(&mut self) {
        let Self { stream, drawn, next } = self;
        let mut slots = drawn.iter_mut();
        stream.draw(DRAWN_AHEAD, |access| {
            if let Some(slot) = slots.next() {
                *slot = Request::of(access);
            }
        });
        *next = 0;
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
    /// Bytes still to ask for; `u64::MAX` when only the deadline ends the run.
    pub(crate) left_bytes: u64,
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
        let mut in_flight = 0u32;
        for slot in 0..self.depth {
            if self.left_bytes == 0 {
                break;
            }
            self.issue(slot);
            in_flight += 1;
            if in_flight.is_multiple_of(REFILL_BATCH) {
                self.queue.flush()?;
            }
        }
        while in_flight > 0 {
            self.queue.wait()?;
            let refill_batch = self.queue.refill_batch();
            let mut refilled = 0;
            while let Some(done) = self.queue.reap() {
                in_flight -= 1;
                let again = if self.is_whole(&done) { self.note(&done) } else { self.not_done(&done) };
                if again {
                    in_flight += 1;
                    refilled += 1;
                    if refilled == refill_batch {
                        self.queue.refill()?;
                        refilled = 0;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether all bytes were transferred.
    #[inline]
    pub(crate) fn is_whole(&self, done: &Completion) -> bool {
        done.result == self.requests[usize::from(done.slot)].block_bytes().cast_signed()
    }

    /// Notes a completed I/O and starts the next one on its slot; whether there is one.
    #[inline]
    fn note(&mut self, done: &Completion) -> bool {
        if !self.count(done) || self.left_bytes == 0 || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        self.issue(done.slot);
        true
    }

    /// Notes a completed I/O; whether it came in time.
    #[inline]
    pub(crate) fn count(&mut self, done: &Completion) -> bool {
        let access = self.requests[usize::from(done.slot)].access();
        self.content.back(access, done.slot, &mut self.queue);
        if done.done_ns >= self.deadline_ns {
            self.late = true;
            return false;
        }
        self.recorder.record(access, done.started_ns, done.done_ns);
        true
    }

    #[inline(always)]
    pub(crate) fn issue(&mut self, slot: Slot) {
        let mut request = self.ahead.next();
        while !self.content.admits(request.access()) {
            request = self.ahead.next();
        }
        let access = request.access();
        self.left_bytes = self.left_bytes.saturating_sub(access.block_bytes.into());
        self.requests[usize::from(slot)] = request;
        self.content.prepare(access, slot, &mut self.queue);
        self.queue.push(slot, access);
    }

    /// An I/O that failed ends the run of all workers, except when the kernel asks to repeat it.
    #[cold]
    pub(crate) fn not_done(&mut self, done: &Completion) -> bool {
        let access = self.requests[usize::from(done.slot)].access();
        let errno = done.result.min(0).unsigned_abs().cast_signed();
        if matches!(errno, libc::EAGAIN | libc::EINTR) && self.repeats < REPEAT_LIMIT {
            self.repeats += 1;
            self.queue.push(done.slot, access);
            return true;
        }
        self.stop.store(true, Ordering::Relaxed);
        let failure = self.failure.get_or_insert_with(|| Failure {
            access,
            at_ns: done.done_ns,
            errno,
            transferred_bytes: done.result.max(0).unsigned_abs(),
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
mod tests {
    use std::collections::VecDeque;
    use std::io;
    use std::sync::mpsc::sync_channel;

    use record::{Arrivals, DataPattern, Process};
    use stdx::access::{Order, Pattern, Span};

    use super::*;
    use crate::load::fill::Fill;
    use crate::load::schedule::Schedule;

    /// A kernel that answers by a script, and with success when that is over.
    struct Scripted {
        answers: VecDeque<i32>,
        pushed: Vec<(Slot, Access)>,
        finished: VecDeque<Completion>,
        clock: Clock,
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

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn wait(&mut self) -> io::Result<()> {
            let now_ns = self.clock.now_ns();
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

    /// What comes of 1000 writes at depth 4: counted ones, ones that were repeated, and the failure.
    fn run(answers: Vec<i32>, paced: bool) -> (u64, u32, Option<Failure>) {
        let (sender, _receiver) = sync_channel(1);
        let (clock, stop) = (Clock::start(), AtomicBool::new(false));
        let pattern = Pattern::plain(Order::Random, 0, 512, Span::contiguous(0, 1 << 20));
        let answers = answers.into();
        let queue =
            Scripted { answers, pushed: Vec::new(), finished: VecDeque::new(), clock, memory: vec![0; 512] };
        let mut worker = Worker {
            queue,
            clock,
            ahead: Ahead::of(Stream::new(1, 0, 1, &pattern)),
            content: Fill::new(DataPattern::Zero, 1, 0),
            recorder: Recorder::new(1_000_000_000, None, sender),
            depth: 4,
            left_bytes: 1000 * 512,
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
