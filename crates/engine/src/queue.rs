//! I/O queues: how I/Os are submitted to the kernel and completed. One private trait, implemented in one file
//! per engine.
//!
//! The worker loop is generic over [`Queue`], so it is compiled separately for each engine. A queue owns its
//! buffers, one per slot, and lends a buffer only while its slot is idle, so that nothing else uses the
//! memory of an I/O in flight.

pub(crate) mod aio;
pub(crate) mod buffers;
pub(crate) mod deallocate;
mod entry;
pub(crate) mod file_calls;
pub(crate) mod flagged;
mod helped;
mod mapping;
pub(crate) mod no_command;
pub(crate) mod null;
pub(crate) mod operation;
pub(crate) mod passthrough;
pub(crate) mod placement_ids;
mod ring;
pub(crate) mod scsi;
mod scsi_command;
pub(crate) mod stamps;
pub(crate) mod threads;
pub(crate) mod trim;
pub(crate) mod uring;
pub(crate) mod varied;

use std::io;

use record::{EachWrite, Effort};
use rustix::io::ReadWriteFlags;
use stamps::Stamps;
use stdx::access::Access;

/// Index of an I/O in the queue, below the sum of the queue depth and the spare slots.
pub(crate) type Slot = u16;

/// Number of I/Os reaped before the free slots are resubmitted. Larger batches would let the queue depth
/// drop.
pub(crate) const REFILL_BATCH: u32 = 4;
/// At larger depths, the batch may be up to this fraction of the depth, so that the relative drop stays
/// small.
pub(crate) const REFILL_PART: u32 = 16;

/// A system call that makes written data durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Data and metadata.
    Fsync,
    /// Data.
    Fdatasync,
}

/// A completed I/O or sync.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completion {
    pub(crate) slot: Slot,
    /// Number of bytes transferred or a negative error number. After a sync, any non-negative number means success.
    pub(crate) result: i32,
    /// Time just before the system call that submitted the I/O; at QD 1, it may be the end of the previous I/O.
    pub(crate) started_ns: u64,
    /// Time just after the system call that returned the completion.
    pub(crate) done_ns: u64,
}

/// A queue of fixed depth, which limits the number of busy slots. Each slot takes one I/O at a time, up to
/// the queue's block size.
pub(crate) trait Queue {
    /// Returns the buffer of an idle slot.
    fn buffer(&mut self, slot: Slot) -> &mut [u8];
    /// Queues an I/O on an idle slot. Submission may wait for [`flush`](Self::flush).
    fn push(&mut self, slot: Slot, access: Access);
    /// Queues a sync on an idle slot, like an I/O. The sync covers the writes that have completed when it starts.
    fn push_sync(&mut self, slot: Slot, sync: Sync);
    /// Sets the kernel's number of the priority of the next I/Os on an idle slot; 0 for the priority of the thread. Only
    /// for queues of workloads with priorities.
    fn set_priority(&mut self, _: Slot, _: u16) {}
    /// Adds a range to the next trim on an idle slot; `index` counts its ranges. Only for queues of such trims.
    fn put_range(&mut self, _: Slot, _: u16, _: Access) {}
    /// Returns the queue's source of time stamps.
    fn stamps(&mut self) -> &mut Stamps;
    /// Submits the queued I/Os.
    fn flush(&mut self) -> io::Result<()>;
    /// Submits the queued I/Os and waits for at least one completion.
    fn wait(&mut self) -> io::Result<()>;
    /// Submits the queued I/Os and waits for at least one completion, but no longer than until this time.
    fn wait_until(&mut self, until_ns: u64) -> io::Result<()>;
    /// Returns the next completion found by the last `wait`.
    fn reap(&mut self) -> Option<Completion>;
    /// Submits the I/Os queued on slots that were just freed. May be deferred to the next [`wait`](Self::wait)
    /// if that is imminent.
    #[inline]
    fn refill(&mut self) -> io::Result<()> {
        self.flush()
    }
    /// Returns the number of I/Os to push before the next [`refill`](Self::refill).
    #[inline]
    fn refill_batch(&self) -> u32 {
        REFILL_BATCH
    }
    /// Returns whether each I/O is submitted by a system call of its own ([`Shape::apart`]).
    #[inline]
    fn submits_apart(&self) -> bool {
        false
    }
    /// Submits the I/O that was just queued if it has a system call of its own, so that it does not wait for I/Os that are
    /// queued after it.
    #[inline]
    fn submit_if_apart(&mut self) -> io::Result<()> {
        if self.submits_apart() { self.flush() } else { Ok(()) }
    }
    /// Returns whether the queue polls and thus keeps a CPU busy even when idle.
    fn is_polling(&self) -> bool {
        false
    }
    /// Stops the queue's helper threads and returns their CPU cost. The queue must not be used afterwards.
    fn retire(&mut self) -> Effort {
        Effort::default()
    }
}

/// `RWF_ATOMIC` (linux/fs.h), known since Linux 6.11.
const RWF_ATOMIC: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x40);

/// Upper bound on the wake-up delay of a sleeping thread; this last part of a wait is spent polling.
pub(crate) const WAKE_UP_NS: u64 = 100_000;

/// Returns how long to sleep before `until_ns`; `None` if that time is too near.
#[inline]
pub(crate) fn sleep_before(until_ns: u64, now_ns: u64) -> Option<std::time::Duration> {
    let left_ns = until_ns.saturating_sub(now_ns);
    (left_ns > 2 * WAKE_UP_NS).then(|| std::time::Duration::from_nanos(left_ns - WAKE_UP_NS))
}

/// Sleeps for part of the time until `until_ns` or spins once if that time is near.
#[inline]
pub(crate) fn rest(until_ns: u64, now_ns: u64) {
    match sleep_before(until_ns, now_ns) {
        Some(time) => std::thread::sleep(time),
        None => std::hint::spin_loop(),
    }
}

/// Rests until `until_ns`, for queues in which nothing can complete meanwhile.
pub(crate) fn rest_until(stamps: &Stamps, until_ns: u64) {
    loop {
        let now_ns = stamps.now_ns();
        if now_ns >= until_ns {
            return;
        }
        rest(until_ns, now_ns);
    }
}

/// Parameters of a queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) fd: std::os::fd::RawFd,
    /// Number of the load thread.
    pub(crate) thread: u16,
    /// Queue depth.
    pub(crate) depth: u16,
    /// Number of slots beyond the queue depth. Their buffers can be filled while all other slots are in flight.
    pub(crate) spares: u16,
    /// Length of the largest I/O.
    pub(crate) block_bytes: u32,
    /// What is durable when a write completes.
    pub(crate) each_write: Option<EachWrite>,
    /// Whether blocks are trimmed instead of written.
    pub(crate) trims: bool,
    /// Whether trims are resets of zones.
    pub(crate) zoned: bool,
    /// Whether writes are atomic.
    pub(crate) atomic: bool,
    /// Whether each I/O is submitted by a system call of its own: the kernel merges adjacent I/Os that one call submits, and
    /// the device would get fewer and larger ones than the workload says.
    pub(crate) apart: bool,
    /// The call that takes the place of all other I/Os.
    pub(crate) space: Option<crate::options::SpaceCall>,
    pub(crate) clock: crate::clock::Clock,
    pub(crate) polling: crate::options::Polling,
}

impl Shape {
    /// Returns the kernel's flags for writes.
    pub(crate) fn write_flags(&self) -> ReadWriteFlags {
        let durable = match self.each_write {
            None => ReadWriteFlags::empty(),
            Some(EachWrite::Sync) => ReadWriteFlags::SYNC,
            Some(EachWrite::Dsync) => ReadWriteFlags::DSYNC,
        };
        if self.atomic { durable | RWF_ATOMIC } else { durable }
    }

    pub(crate) fn slots(&self) -> u16 {
        self.depth + self.spares
    }
}
