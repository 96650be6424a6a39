//! A queue without a kernel, in which every I/O completes as soon as it is submitted. Used to measure the
//! engine itself.

use std::io;

use stdx::access::Access;

use super::buffers::Buffers;
use super::stamps::Stamps;
use super::{Completion, Queue, Shape, Slot, Sync};

/// One worker's queue.
pub(crate) struct Null {
    depth: u16,
    stamps: Stamps,
    buffers: Buffers,
    /// Circular buffer of I/Os in the order of submission; its length is a power of two.
    in_flight: Box<[InFlight]>,
    /// Numbers of I/Os pushed, found by the last `wait`, and reaped.
    pushed: usize,
    seen: usize,
    taken: usize,
    started_ns: u64,
    done_ns: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    length_bytes: u32,
    slot: Slot,
}

impl Null {
    pub(crate) fn new(shape: Shape) -> io::Result<Self> {
        let depth = usize::from(shape.depth);
        Ok(Self {
            depth: shape.depth,
            stamps: Stamps::of(shape.clock),
            buffers: Buffers::new(shape.slots(), shape.block_bytes)?,
            in_flight: vec![InFlight::default(); depth.next_power_of_two()].into(),
            pushed: 0,
            seen: 0,
            taken: 0,
            started_ns: 0,
            done_ns: 0,
        })
    }
}

impl Queue for Null {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        // SAFETY: the slice is `block_bytes` long and initialised (mmap returns zeros), nothing else has its
        // address, and the reference borrows `self`.
        unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) }
    }

    #[inline]
    fn push(&mut self, slot: Slot, access: Access) {
        let place = self.pushed & (self.in_flight.len() - 1);
        self.in_flight[place] = InFlight { length_bytes: access.block_bytes, slot };
        self.pushed += 1;
    }

    fn push_sync(&mut self, slot: Slot, _: Sync) {
        self.push(slot, Access { read: false, block_bytes: 0, offset_bytes: 0 });
    }

    #[inline]
    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    /// Nothing to do here: `wait` submits everything.
    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        self.started_ns = self.stamps.start_ns();
        self.seen = self.pushed;
        self.done_ns = self.stamps.now_ns();
        Ok(())
    }

    fn wait_until(&mut self, until_ns: u64) -> io::Result<()> {
        if self.seen < self.pushed {
            return self.wait();
        }
        super::rest_until(&self.stamps, until_ns);
        Ok(())
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        if self.taken == self.seen {
            return None;
        }
        let InFlight { length_bytes, slot } = self.in_flight[self.taken & (self.in_flight.len() - 1)];
        self.taken += 1;
        let (started_ns, done_ns) = (self.started_ns, self.done_ns);
        Some(Completion { slot, result: length_bytes.cast_signed(), started_ns, done_ns })
    }

    /// There is no device whose queue depth could drop.
    #[inline]
    fn refill_batch(&self) -> u32 {
        self.depth.into()
    }
}
