//! I/O through io_uring, with a registered file, ring and buffers if the kernel permits it.

use std::io;
use std::mem::ManuallyDrop;

use record::PathRemark;
use stdx::access::Access;

use super::buffers::Buffers;
use super::helped::WaitBatch;
use super::operation::Operation;
use super::ring::Ring;
use super::stamps::Stamps;
use super::{Completion, Queue, REFILL_BATCH, REFILL_PART, Shape, Slot, Sync};
use crate::options::Polling;

/// Number of consecutive waits that must find all I/Os complete before the target is assumed to complete them
/// immediately.
const AT_ONCE_WAITS: u32 = 8;

/// One ring with its buffers, used by one thread.
pub(crate) struct Uring<E: Operation> {
    ring: Ring<E::Submission>,
    operation: E,
    buffers: ManuallyDrop<Buffers>,
    shape: Shape,
    stamps: Stamps,
    slots: Vec<InFlight>,
    /// Time of the last peek at the CQ.
    seen_ns: u64,
    at_once_waits: u32,
    wait_batch: WaitBatch,
    polling: Polling,
}

#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    /// Submission time; 0 if the slot is idle.
    length_bytes: u32,
    started_ns: u64,
}

impl<E: Operation> Uring<E> {
    /// Sets up a ring. The remarks say what the kernel did not permit.
    ///
    /// Must be called by the thread that uses the ring (`IORING_SETUP_SINGLE_ISSUER`).
    pub(crate) fn new(shape: Shape, target: E::Target) -> io::Result<(Self, Vec<PathRemark>)> {
        if !E::REACHES_TARGET || shape.polling == Polling::No {
            return Self::tried(shape, target, Polling::No);
        }
        match Self::tried(shape, target.clone(), shape.polling) {
            Ok(made) => Ok(made),
            Err(error) => {
                let (queue, mut remarks) = Self::tried(shape, target, Polling::No)?;
                remarks.insert(0, PathRemark::NotPolled { cause: record::errno::reason(&error) });
                Ok((queue, remarks))
            }
        }
    }

    /// Sets up a ring. Performs an I/O if there is no other way to find out whether the ring works.
    fn tried(shape: Shape, target: E::Target, polling: Polling) -> io::Result<(Self, Vec<PathRemark>)> {
        let (mut queue, remarks) = Self::with(shape, target, polling)?;
        if E::NEEDS_A_TRIAL || polling != Polling::No {
            queue.probe()?;
        }
        Ok((queue, remarks))
    }

    /// Reads the first block of the target to check that the ring works.
    fn probe(&mut self) -> io::Result<()> {
        self.push(0, Access { read: true, block_bytes: self.shape.block_bytes, offset_bytes: 0 });
        loop {
            self.wait()?;
            if let Some(done) = self.reap() {
                return if done.result < 0 {
                    Err(io::Error::from_raw_os_error(-done.result))
                } else {
                    Ok(())
                };
            }
        }
    }

    fn with(mut shape: Shape, target: E::Target, polling: Polling) -> io::Result<(Self, Vec<PathRemark>)> {
        // Worker threads submit one I/O at a time.
        let is_helped = polling == Polling::No && E::is_helped(&shape);
        shape.apart &= E::MAY_BE_MERGED && !is_helped;
        let buffers = Buffers::new(shape.slots(), shape.block_bytes)?;
        let ring = Ring::new(u32::from(shape.depth), polling, shape.apart)?;
        let (operation, mut remarks) = E::new(&ring, &shape, &buffers, target)?;
        let mut wait_batch = WaitBatch::ONE;
        if is_helped {
            remarks.push(PathRemark::KernelThreads);
            let depth = u32::from(shape.depth);
            wait_batch = WaitBatch::of(depth, batch(depth), ring.helpers().unwrap_or(depth));
        }
        let queue = Self {
            ring,
            operation,
            buffers: ManuallyDrop::new(buffers),
            shape,
            stamps: Stamps::of(shape.clock),
            slots: vec![InFlight::default(); shape.slots().into()],
            seen_ns: 0,
            at_once_waits: 0,
            wait_batch,
            polling,
        };
        Ok((queue, remarks))
    }

    #[inline]
    fn stamp(&mut self) {
        let mut unpublished = self.ring.unpublished().peekable();
        if unpublished.peek().is_none() {
            return;
        }
        let now_ns = self.stamps.start_ns();
        for slot in unpublished {
            self.slots[slot as usize].started_ns = now_ns;
        }
    }

    /// Records whether the last call left I/Os in flight.
    #[inline]
    fn learn(&mut self) {
        let all = self.ring.ready() == self.ring.in_flight();
        self.at_once_waits = if all { self.at_once_waits.saturating_add(1) } else { 0 };
    }
}

impl<E: Operation> Queue for Uring<E> {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(self.slots[usize::from(slot)].length_bytes == 0, "the kernel owns this buffer");
        // SAFETY: the slice is `block_bytes` long and initialised (mmap returns zeros); the slot is idle, so
        // the kernel does not use it, and the reference borrows `self`, so nothing can be pushed while it exists.
        unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) }
    }

    #[inline]
    fn push(&mut self, slot: Slot, access: Access) {
        assert!(
            access.block_bytes <= self.shape.block_bytes || !E::FILLS_BUFFER,
            "the buffer would overflow"
        );
        let state = &mut self.slots[usize::from(slot)];
        assert!(state.length_bytes == 0, "one I/O per slot");
        state.length_bytes = access.block_bytes;
        self.operation.prepare(slot, access);
        let entry = self.operation.entry(slot, self.buffers.at(slot), access);
        // SAFETY: file and buffer stay valid until the CQE is consumed: the target keeps its file open for
        // the whole run, and drop waits for every I/O before it frees the buffers. Each slot has at most one
        // SQE in flight.
        unsafe { self.ring.push(entry) };
    }

    #[inline]
    fn set_priority(&mut self, slot: Slot, priority: u16) {
        self.operation.set_priority(slot, priority);
    }

    fn put_range(&mut self, slot: Slot, index: u16, access: Access) {
        assert!(self.slots[usize::from(slot)].length_bytes == 0, "the kernel owns this buffer");
        // SAFETY: as in `buffer`.
        let buffer =
            unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) };
        self.operation.put_range(slot, index, access, buffer);
    }

    fn push_sync(&mut self, slot: Slot, sync: Sync) {
        let state = &mut self.slots[usize::from(slot)];
        assert!(state.length_bytes == 0, "one I/O per slot");
        // Any number other than 0 marks the slot as busy.
        state.length_bytes = 1;
        let entry = self.operation.sync_entry(slot, sync);
        // SAFETY: as in `push`; a sync has no buffer.
        unsafe { self.ring.push(entry) };
    }

    #[inline]
    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.stamp();
        self.ring.enter(0)
    }

    /// If only a few CQEs are left to reap, leaves the submission to `wait`: reaping them takes little time,
    /// and one system call is saved.
    #[inline]
    fn refill(&mut self) -> io::Result<()> {
        if self.ring.ready() < self.refill_batch().min(REFILL_BATCH) as usize { Ok(()) } else { self.flush() }
    }

    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        self.stamp();
        loop {
            self.ring.peek();
            // If completions are available, no call is needed.
            if self.ring.has_unsubmitted() || self.ring.ready() == 0 {
                self.ring.enter(self.wait_batch.count(self.ring.in_flight()))?;
            }
            // Only CQEs that are available now get this time stamp, because later CQEs may belong to I/Os that
            // start after it.
            let before_ns = std::mem::replace(&mut self.seen_ns, self.stamps.now_ns());
            self.ring.peek();
            if self.ring.ready() > 0 || self.ring.in_flight() == 0 {
                self.wait_batch.learn(self.ring.ready(), self.seen_ns.saturating_sub(before_ns));
                self.learn();
                return Ok(());
            }
        }
    }

    fn wait_until(&mut self, until_ns: u64) -> io::Result<()> {
        if until_ns == u64::MAX {
            return self.wait();
        }
        self.stamp();
        loop {
            self.seen_ns = self.stamps.now_ns();
            self.ring.peek();
            if self.ring.ready() > 0 || (self.seen_ns >= until_ns && !self.ring.has_unsubmitted()) {
                return Ok(());
            }
            let time = super::sleep_before(until_ns, self.seen_ns);
            self.ring.enter_for(time.unwrap_or_default())?;
        }
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        let done = self.ring.next()?;
        let slot = done.user_data as Slot;
        let state = &mut self.slots[usize::from(slot)];
        let result = E::result(done.result, std::mem::take(&mut state.length_bytes));
        Some(Completion { slot, result, started_ns: state.started_ns, done_ns: self.seen_ns })
    }

    /// Returns the full depth for a target that completes every I/O during submission, such as no-ops: its
    /// queue depth cannot drop, and more system calls would only add cost.
    #[inline]
    fn refill_batch(&self) -> u32 {
        if self.submits_apart() {
            return 1;
        }
        let depth = u32::from(self.shape.depth);
        let least = batch(depth).max(self.wait_batch.submitted());
        if self.at_once_waits >= AT_ONCE_WAITS { depth } else { least }
    }

    fn submits_apart(&self) -> bool {
        self.shape.apart
    }

    fn is_polling(&self) -> bool {
        self.polling != Polling::No
    }
}

/// Returns the number of I/Os to submit at once if the queue depth could drop.
fn batch(depth: u32) -> u32 {
    REFILL_BATCH.max(depth / REFILL_PART)
}

impl<E: Operation> Drop for Uring<E> {
    fn drop(&mut self) {
        while self.ring.in_flight() > 0 {
            if self.wait().is_err() {
                // The kernel may still write to the buffers, so leaking them is the only safe option.
                return;
            }
            while self.reap().is_some() {}
        }
        // SAFETY: nothing is in flight, and `buffers` is not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.buffers) };
    }
}
