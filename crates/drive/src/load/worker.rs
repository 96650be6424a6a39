//! The loop of one thread: keep the queue full, note what comes back.
//!
//! Between start and end it does not allocate, lock, log or branch on configuration, and the only
//! system calls are those of its queue.

use std::sync::atomic::{AtomicBool, Ordering};

use stdx::access::{Access, Stream};

use super::fill::Fill;
use super::recorder::Recorder;
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

/// Everything that a worker needs for its loop.
pub(crate) struct Worker<'a, Q> {
    pub(crate) queue: Q,
    pub(crate) stream: Stream,
    pub(crate) fill: Fill,
    pub(crate) recorder: Recorder,
    pub(crate) depth: u16,
    /// Bytes still to ask for; `u64::MAX` when only the deadline ends the run.
    pub(crate) left_bytes: u64,
    /// `u64::MAX` when only the amount ends the run.
    pub(crate) deadline_ns: u64,
    /// Set by anyone who wants all workers to end.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) requests: Vec<Access>,
    pub(crate) failure: Option<Failure>,
    pub(crate) repeats: u32,
}

impl<Q: Queue> Worker<'_, Q> {
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
                let access = self.requests[usize::from(done.slot)];
                let again = if done.result == access.block_bytes.cast_signed() {
                    self.note(&done, access)
                } else {
                    self.not_done(&done, access)
                };
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

    /// Notes a completed I/O and starts the next one on its slot; whether there is one.
    #[inline]
    fn note(&mut self, done: &Completion, access: Access) -> bool {
        if done.done_ns >= self.deadline_ns {
            return false;
        }
        self.recorder.record(access, done.started_ns, done.done_ns);
        if self.left_bytes == 0 || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        self.issue(done.slot);
        true
    }

    #[inline]
    fn issue(&mut self, slot: Slot) {
        let access = self.stream.next_access();
        self.left_bytes = self.left_bytes.saturating_sub(access.block_bytes.into());
        self.requests[usize::from(slot)] = access;
        if !access.read {
            self.fill.fill(&mut self.queue.buffer(slot)[..access.block_bytes as usize]);
        }
        self.queue.push(slot, access);
    }

    /// An I/O that failed ends the run of all workers, except when the kernel asks to repeat it.
    #[cold]
    fn not_done(&mut self, done: &Completion, access: Access) -> bool {
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
