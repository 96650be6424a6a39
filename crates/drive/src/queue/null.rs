//! A queue without a kernel: every I/O is done as soon as it is submitted. It measures the engine itself.

use std::io;

use stdx::access::Access;

use super::buffers::Buffers;
use super::{Completion, Queue, Shape, Slot};

/// The queue of one worker.
pub(crate) struct Null {
    shape: Shape,
    buffers: Buffers,
    slots: Vec<InFlight>,
    /// Slots in the order in which they were pushed; those before `flushed` are stamped.
    pushed: Vec<Slot>,
    flushed: usize,
    /// What the last `wait` saw, and how much of it was taken.
    finished: Vec<Slot>,
    taken: usize,
    done_ns: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    started_ns: u64,
    length_bytes: u32,
}

impl Null {
    pub(crate) fn new(shape: Shape) -> io::Result<Self> {
        let depth = usize::from(shape.depth);
        Ok(Self {
            shape,
            buffers: Buffers::new(shape.depth, shape.block_bytes)?,
            slots: vec![InFlight::default(); depth],
            pushed: Vec::with_capacity(depth),
            flushed: 0,
            finished: Vec::with_capacity(depth),
            taken: 0,
            done_ns: 0,
        })
    }
}

impl Queue for Null {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        // SAFETY: the slice is `block_bytes` long and initialised (mmap gives zeros), nobody else has its
        // address, and the reference borrows `self`.
        unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) }
    }

    #[inline]
    fn push(&mut self, slot: Slot, access: Access) {
        self.slots[usize::from(slot)].length_bytes = access.block_bytes;
        self.pushed.push(slot);
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        let now_ns = self.shape.clock.now_ns();
        for &slot in &self.pushed[self.flushed..] {
            self.slots[usize::from(slot)].started_ns = now_ns;
        }
        self.flushed = self.pushed.len();
        Ok(())
    }

    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        if self.flushed < self.pushed.len() {
            self.flush()?;
        }
        self.finished.clear();
        std::mem::swap(&mut self.finished, &mut self.pushed);
        (self.flushed, self.taken) = (0, 0);
        self.done_ns = self.shape.clock.now_ns();
        Ok(())
    }

    fn wait_until(&mut self, until_ns: u64) -> io::Result<()> {
        if !self.pushed.is_empty() {
            return self.wait();
        }
        loop {
            let now_ns = self.shape.clock.now_ns();
            if now_ns >= until_ns {
                return Ok(());
            }
            super::rest(until_ns, now_ns);
        }
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        let slot = *self.finished.get(self.taken)?;
        self.taken += 1;
        let InFlight { started_ns, length_bytes } = self.slots[usize::from(slot)];
        Some(Completion { slot, result: length_bytes.cast_signed(), started_ns, done_ns: self.done_ns })
    }

    /// It has no device whose depth could sag.
    #[inline]
    fn refill_batch(&self) -> u32 {
        self.shape.depth.into()
    }
}
