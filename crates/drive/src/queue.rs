//! How I/Os get into the kernel and back: one private trait, one file per way.
//!
//! The worker loop is generic over [`Queue`], so each way gets its own compiled loop. A queue owns its
//! buffers, one per slot, and hands one out only while its slot is idle; that makes every I/O's memory
//! its own until the kernel is done with it.

pub(crate) mod aio;
pub(crate) mod buffers;
mod entry;
pub(crate) mod errand;
mod helped;
mod mapping;
pub(crate) mod null;
pub(crate) mod passthrough;
mod ring;
pub(crate) mod stamps;
pub(crate) mod threads;
pub(crate) mod uring;

use std::io;

use record::Effort;
use stamps::Stamps;
use stdx::access::Access;

/// Position of an I/O in the queue, below the queue depth and its spares together.
pub(crate) type Slot = u16;

/// I/Os taken back before the free slots are submitted again: waiting for larger batches lets the depth sag.
pub(crate) const REFILL_BATCH: u32 = 4;
/// At larger depths it may be this part of the depth: the share of it that sags stays small.
pub(crate) const REFILL_PART: u32 = 16;

/// A finished I/O.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completion {
    pub(crate) slot: Slot,
    /// Bytes transferred, or a negative error number.
    pub(crate) result: i32,
    /// Stamp before the system call that submitted it; at depth 1 it may be the end of the one before.
    pub(crate) started_ns: u64,
    /// Stamp after the system call that brought it back.
    pub(crate) done_ns: u64,
}

/// A queue of fixed depth: so many slots are busy at most. Every slot takes one I/O of at most the queue's block size at a time.
pub(crate) trait Queue {
    /// The buffer of an idle slot.
    fn buffer(&mut self, slot: Slot) -> &mut [u8];
    /// Takes an I/O on an idle slot; it may wait for [`flush`](Self::flush) to be submitted.
    fn push(&mut self, slot: Slot, access: Access);
    /// The stamps that it gives its I/Os.
    fn stamps(&mut self) -> &mut Stamps;
    /// Submits what was pushed.
    fn flush(&mut self) -> io::Result<()>;
    /// Submits what was pushed and waits until at least one I/O is finished.
    fn wait(&mut self) -> io::Result<()>;
    /// Submits what was pushed and waits until at least one I/O is finished or this time has come.
    fn wait_until(&mut self, until_ns: u64) -> io::Result<()>;
    /// The next finished I/O of those that the last `wait` saw.
    fn reap(&mut self) -> Option<Completion>;
    /// Submits what was pushed for slots that just became free. May leave it to the next [`wait`](Self::wait)
    /// when that is near.
    #[inline]
    fn refill(&mut self) -> io::Result<()> {
        self.flush()
    }
    /// How many I/Os to push before the next [`refill`](Self::refill).
    #[inline]
    fn refill_batch(&self) -> u32 {
        REFILL_BATCH
    }
    /// Whether a processor is kept busy although there is nothing to do.
    fn is_polling(&self) -> bool {
        false
    }
    /// Ends the threads that help the queue, and says what they cost. The queue is not used after this.
    fn retire(&mut self) -> Effort {
        Effort::default()
    }
}

/// A sleeper wakes up late by less than this; the rest of a wait is spent looking.
pub(crate) const WAKE_UP_NS: u64 = 100_000;

/// Time to sleep before this time has come; none when it is too near for that.
#[inline]
pub(crate) fn sleep_before(until_ns: u64, now_ns: u64) -> Option<std::time::Duration> {
    let left_ns = until_ns.saturating_sub(now_ns);
    (left_ns > 2 * WAKE_UP_NS).then(|| std::time::Duration::from_nanos(left_ns - WAKE_UP_NS))
}

/// Lets a part of the time pass until this time.
#[inline]
pub(crate) fn rest(until_ns: u64, now_ns: u64) {
    match sleep_before(until_ns, now_ns) {
        Some(time) => std::thread::sleep(time),
        None => std::hint::spin_loop(),
    }
}

/// What a queue needs to know of its target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) fd: std::os::fd::RawFd,
    /// I/Os in flight.
    pub(crate) depth: u16,
    /// Slots beyond these, whose buffers can be filled while all others are in flight.
    pub(crate) spares: u16,
    /// Of the largest I/O.
    pub(crate) block_bytes: u32,
    pub(crate) clock: crate::clock::Clock,
    pub(crate) polling: crate::Polling,
}

impl Shape {
    pub(crate) fn slots(&self) -> u16 {
        self.depth + self.spares
    }
}
