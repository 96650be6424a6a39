//! The state of one worker and the steps of its loops: issuing an I/O, counting a completed I/O, and handling
//! an I/O that was not transferred completely.

use std::sync::atomic::{AtomicBool, Ordering};

use stdx::access::{Access, Stream};

use super::content::Content;
use super::forgiven::Forgiven;
use super::recorder::Recorder;
use super::write_buffers::WriteBuffers;
use crate::clock::Clock;
use crate::queue::stamps::Took;
use crate::queue::{Completion, Queue, Slot, Sync};

/// Maximum number of resubmissions over the whole run of a worker.
const REPEAT_LIMIT: u32 = 10_000;

/// The first failed operation and the number of all failed operations.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// The I/O; without a length if a sync failed.
    pub(crate) access: Access,
    pub(crate) is_sync: bool,
    /// Whether a reset or finish of a zone failed; the access is then the zone.
    pub(crate) is_of_zone: bool,
    pub(crate) at_ns: u64,
    /// Positive error number; 0 for a short transfer.
    pub(crate) errno: i32,
    /// Number of bytes transferred by a short transfer.
    pub(crate) transferred_bytes: u32,
    /// Failed I/Os by error number, in order of first appearance.
    pub(crate) counts: Vec<(i32, u64)>,
}

/// An access packed into two words to avoid a store-forwarding stall: the generator writes an [`Access`] field
/// by field. Loading the fields together waits for all of these stores, and this wait took a third of the time
/// per I/O.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Request {
    offset_bytes: u64,
    /// Twice the length, plus one if the access is a read.
    length_and_read: u64,
}

impl Request {
    #[inline]
    pub(crate) fn of(access: Access) -> Self {
        let length_and_read = u64::from(access.block_bytes) << 1 | u64::from(access.read);
        Self { offset_bytes: access.offset_bytes, length_and_read }
    }

    #[inline]
    pub(crate) fn block_bytes(self) -> u32 {
        (self.length_and_read >> 1) as u32
    }

    #[inline]
    pub(crate) fn access(self) -> Access {
        let read = self.length_and_read & 1 != 0;
        Access { read, block_bytes: self.block_bytes(), offset_bytes: self.offset_bytes }
    }

    /// Stands in for a request that was resubmitted. No completion has this length, so the result always
    /// reaches [`Worker::not_done`], and the fast path needs no extra check.
    const REPEATED: Self = Self { offset_bytes: 0, length_and_read: 1 << 32 };
    /// The syncs. As with a repeated request, the completion of a sync always reaches [`Worker::not_done`].
    const FSYNC: Self = Self { offset_bytes: 0, length_and_read: 1 << 32 | 1 };
    const FDATASYNC: Self = Self { offset_bytes: 1, ..Self::FSYNC };

    fn of_sync(sync: Sync) -> Self {
        match sync {
            Sync::Fsync => Self::FSYNC,
            Sync::Fdatasync => Self::FDATASYNC,
        }
    }

    /// Returns the sync if this request is a sync.
    pub(crate) fn sync(self) -> Option<Sync> {
        match self {
            Self::FSYNC => Some(Sync::Fsync),
            Self::FDATASYNC => Some(Sync::Fdatasync),
            _ => None,
        }
    }
}

/// A resubmitted I/O. Its response time starts at its first submission.
struct Repeated {
    slot: Slot,
    request: Request,
    started_ns: u64,
}

/// I/Os for which the kernel requested a retry.
pub(crate) struct Repeats {
    /// Number of resubmissions over the whole run.
    pub(crate) count: u32,
    in_flight: Vec<Repeated>,
}

impl Repeats {
    /// Reserves space for a full queue.
    pub(crate) fn reserved(depth: u16) -> Self {
        Self { count: 0, in_flight: Vec::with_capacity(depth.into()) }
    }

    fn take(&mut self, slot: Slot) -> Option<Repeated> {
        let place = self.in_flight.iter().position(|repeated| repeated.slot == slot)?;
        Some(self.in_flight.swap_remove(place))
    }
}

/// Outcome of an I/O whose length was not fully transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The I/O was resubmitted.
    Again,
    /// The I/O had been resubmitted and is now complete and counted.
    Done,
    Failed,
}

/// Number of accesses drawn at a time.
const DRAWN_AHEAD: usize = 64;

/// Requests that have not been issued yet. They are drawn in batches: a batch keeps the generator in
/// registers, whereas single draws load and store its state each time.
pub(crate) struct Ahead {
    stream: Stream,
    /// Bytes still to draw beyond the prefetched requests. Negative if the last request exceeds the remaining
    /// amount.
    left_bytes: i64,
    /// The remaining requests are at the front; the next one to issue is the last of them.
    drawn: Box<[Request; DRAWN_AHEAD]>,
    left: usize,
    /// Number of remaining requests that exceed the amount.
    beyond: usize,
}

impl Ahead {
    /// Limits the stream to this many bytes; `u64::MAX` if only the deadline ends the run.
    pub(crate) fn of(stream: Stream, amount_bytes: u64) -> Self {
        let left_bytes = i64::try_from(amount_bytes).unwrap_or(i64::MAX);
        Self { stream, left_bytes, drawn: Box::new([Request::default(); DRAWN_AHEAD]), left: 0, beyond: 0 }
    }

    /// Returns whether no request is left.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.left == self.beyond && self.left_bytes <= 0
    }

    /// Discards all remaining requests.
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
        // The index is always in range; the remainder lets the compiler omit the bounds check.
        Some((self.drawn[self.left % DRAWN_AHEAD], took))
    }

    /// Adds the bytes of the latest request back to the remaining amount, because the request will not be issued.
    #[cold]
    fn give_back(&mut self, request: Request) {
        self.left_bytes += i64::from(request.block_bytes());
    }

    /// Makes more requests available, up to the remaining amount.
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

    /// Draws a batch of requests and returns their total bytes.
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

/// State of a worker's loop.
pub(crate) struct Worker<'a, Q, C> {
    pub(crate) queue: Q,
    pub(crate) clock: Clock,
    pub(crate) ahead: Ahead,
    pub(crate) content: C,
    pub(crate) recorder: Recorder,
    pub(crate) depth: u16,
    /// Number of bytes after which the run ends; `u64::MAX` if only the deadline ends it.
    pub(crate) deadline_ns: u64,
    /// Setting this flag stops all workers.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) requests: Vec<Request>,
    pub(crate) failure: Option<Failure>,
    pub(crate) forgiven: Forgiven,
    pub(crate) repeats: Repeats,
    /// Whether an I/O completed at or after the deadline.
    pub(crate) late: bool,
    pub(crate) write_buffers: Option<WriteBuffers>,
}

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Discards all remaining requests if a stop was requested.
    #[inline]
    pub(crate) fn look_at_stop(&mut self) {
        if self.stop.load(Ordering::Relaxed) {
            self.ahead.end();
        }
    }

    /// Returns whether a stop was requested.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Records a completed I/O. The first I/O that completes at or after the deadline ends the loop instead.
    #[inline(always)]
    pub(crate) fn count(&mut self, request: Request, done: Completion) -> Took {
        let access = request.access();
        let took = self.content.back(access, done.slot, &mut self.queue);
        if done.done_ns >= self.deadline_ns {
            self.late = true;
            self.ahead.end();
            return took;
        }
        let took = took.and(self.recorder.record(access, done.started_ns, done.done_ns));
        if let Some(priority) = self.content.priority(done.slot) {
            self.recorder.record_priority(priority, access, done.started_ns, done.done_ns);
        }
        took
    }

    /// Issues the next I/O on this slot. Returns `None` if no I/O is left.
    #[inline(always)]
    pub(crate) fn issue(&mut self, slot: Slot, requests: &mut [Request]) -> Option<Took> {
        let (request, mut took) = self.next()?;
        let access = request.access();
        if C::HAS_RANGES {
            return Some(self.issue_ranges(request, slot, requests));
        }
        requests[usize::from(slot)] = request;
        if !access.read {
            self.content.fresh(&mut self.queue.buffer(slot)[..access.block_bytes as usize]);
            took = Took::Time;
        }
        Some(took.and(self.push(slot, access)))
    }

    /// Issues a sync on this slot.
    pub(crate) fn issue_sync(&mut self, slot: Slot, sync: Sync, requests: &mut [Request]) {
        requests[usize::from(slot)] = Request::of_sync(sync);
        self.queue.push_sync(slot, sync);
    }

    /// Issues an fsync after the last I/O and waits for it. Returns its start and end; `None` if it failed.
    pub(crate) fn end_fsync(&mut self) -> std::io::Result<Option<(u64, u64)>> {
        self.queue.push_sync(0, Sync::Fsync);
        loop {
            self.queue.wait()?;
            let Some(done) = self.queue.reap() else { continue };
            if done.result >= 0 {
                return Ok(Some((done.started_ns, done.done_ns)));
            }
            let mut request = Request::FSYNC;
            if self.not_done(&mut request, done) == After::Failed {
                return Ok(None);
            }
        }
    }

    /// Counts a completed sync, like an I/O.
    fn count_sync(&mut self, done: Completion) {
        if done.done_ns >= self.deadline_ns {
            self.late = true;
            self.ahead.end();
            return;
        }
        self.recorder.record_sync(done.started_ns, done.done_ns);
    }

    /// Returns the next request that can be issued now.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(Request, Took)> {
        let (mut request, mut took) = self.ahead.next()?;
        while !self.content.admits(request.access()) {
            self.ahead.give_back(request);
            (request, _) = self.ahead.next()?;
            took = Took::Time;
        }
        Some((request, took))
    }

    /// Pushes an I/O to the queue; the buffer of a write is already filled.
    #[inline(always)]
    pub(crate) fn push(&mut self, slot: Slot, access: Access) -> Took {
        let took = self.content.prepare(access, slot, &mut self.queue);
        self.queue.push(slot, access);
        took
    }

    /// Handles a sync, or an I/O whose length was not fully transferred. A failure ends the run of all workers,
    /// unless the kernel requests a retry. A retried I/O counts once, and its response time starts at the first
    /// attempt.
    #[cold]
    pub(crate) fn not_done(&mut self, request: &mut Request, mut done: Completion) -> After {
        if let Some(repeated) = self.repeats.take(done.slot) {
            (*request, done.started_ns) = (repeated.request, repeated.started_ns);
        }
        if done.result == request.block_bytes().cast_signed() {
            self.count(*request, done);
            return After::Done;
        }
        let sync = request.sync();
        if sync.is_some() && done.result >= 0 {
            self.count_sync(done);
            return After::Done;
        }
        let nothing = Access { read: false, block_bytes: 0, offset_bytes: 0 };
        let access = if sync.is_some() { nothing } else { request.access() };
        let Completion { slot, result, started_ns, done_ns } = done;
        let errno = result.min(0).unsigned_abs().cast_signed();
        if matches!(errno, libc::EAGAIN | libc::EINTR) && self.repeats.count < REPEAT_LIMIT {
            self.repeats.count += 1;
            self.repeats.in_flight.push(Repeated { slot, request: *request, started_ns });
            *request = Request::REPEATED;
            match sync {
                Some(sync) => self.queue.push_sync(slot, sync),
                None => self.queue.push(slot, access),
            }
            return After::Again;
        }
        if sync.is_none() && self.forgive(access, done, errno) {
            return After::Done;
        }
        self.end_by(Failure {
            access,
            is_sync: sync.is_some(),
            is_of_zone: false,
            at_ns: done_ns,
            errno,
            transferred_bytes: result.max(0).unsigned_abs(),
            counts: Vec::new(),
        });
        After::Failed
    }

    /// Ends the run of all workers because of a failed operation. Keeps the first one and counts all.
    pub(crate) fn end_by(&mut self, failed: Failure) {
        self.stop.store(true, Ordering::Relaxed);
        self.ahead.end();
        let errno = failed.errno;
        let failure = self.failure.get_or_insert(failed);
        match failure.counts.iter_mut().find(|(kind, _)| *kind == errno) {
            Some((_, count)) => *count += 1,
            None => failure.counts.push((errno, 1)),
        }
    }

    /// Accepts an I/O that failed in a way that the workload tolerates: its error is counted, or the part that it
    /// transferred. Returns false if the I/O ends the run.
    fn forgive(&mut self, access: Access, done: Completion, errno: i32) -> bool {
        let errors = self.forgiven.errors(access.read);
        let is_partial = done.result > 0 && !errors.is_empty();
        if !is_partial && !errors.contains(errno) {
            return false;
        }
        self.content.lost(access);
        if !is_partial {
            self.forgiven.count(errno, done.done_ns);
        }
        if done.done_ns >= self.deadline_ns {
            self.late = true;
            self.ahead.end();
        } else if is_partial {
            let part = Access { block_bytes: done.result.unsigned_abs(), ..access };
            self.recorder.record(part, done.started_ns, done.done_ns);
        } else if let Some(tally) = self.recorder.tally(done.done_ns) {
            tally.failed[usize::from(access.read)] += 1;
        }
        true
    }
}

#[cfg(test)]
mod start_times;

#[cfg(test)]
mod tests;
