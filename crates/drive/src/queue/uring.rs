//! io_uring: registered file, ring and buffers where the kernel grants them.

use std::io;
use std::mem::ManuallyDrop;

use io_uring::{IoUring, opcode, types};

use super::buffers::Buffers;
use super::{Completion, Queue, Shape, Slot};

/// One ring with its buffers, used by one thread.
pub(crate) struct Uring {
    ring: IoUring,
    buffers: ManuallyDrop<Buffers>,
    shape: Shape,
    registered: bool,
    slots: Vec<InFlight>,
    /// Pushed but not yet stamped and submitted.
    pushed: Vec<Slot>,
    in_flight: usize,
    /// What is left of the completions seen by the last `wait`, and when that was.
    batch: usize,
    seen_ns: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    busy: bool,
    started_ns: u64,
}

impl Uring {
    /// Sets up a ring. The second value says what the kernel did not grant, if anything.
    ///
    /// Must be called by the thread that uses it (`IORING_SETUP_SINGLE_ISSUER`).
    pub(crate) fn new(shape: Shape) -> io::Result<(Self, Option<String>)> {
        let buffers = Buffers::new(shape.depth, shape.block_bytes)?;
        let ring = new_ring(u32::from(shape.depth))?;
        ring.submitter().register_files(&[shape.fd])?;
        // Saves a file look-up per call; without it everything still works.
        let _ = ring.submitter().register_ring_fd();
        // SAFETY: the vectors point into `buffers`, which outlives every I/O: drop waits for them.
        let registered = unsafe { ring.submitter().register_buffers(&buffers.vectors(shape.depth)) };
        let note =
            registered.as_ref().err().map(|e| format!("unregistered buffers: {}", crate::error::reason(e)));
        let depth = usize::from(shape.depth);
        let queue = Self {
            ring,
            buffers: ManuallyDrop::new(buffers),
            shape,
            registered: registered.is_ok(),
            slots: vec![InFlight::default(); depth],
            pushed: Vec::with_capacity(depth),
            in_flight: 0,
            batch: 0,
            seen_ns: 0,
        };
        Ok((queue, note))
    }

    fn stamp(&mut self) {
        let now_ns = self.shape.clock.now_ns();
        for slot in self.pushed.drain(..) {
            self.slots[usize::from(slot)].started_ns = now_ns;
        }
    }
}

fn new_ring(entries: u32) -> io::Result<IoUring> {
    let tuned =
        IoUring::builder().setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun().build(entries);
    match tuned {
        // Before Linux 6.1 the kernel does not know these flags.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => IoUring::new(entries),
        other => other,
    }
}

/// Repeats a call that was interrupted, or refused until completions are reaped; both end by themselves.
fn persist(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<()> {
    loop {
        match call() {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN)) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

impl Queue for Uring {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(!self.slots[usize::from(slot)].busy, "the kernel owns this buffer");
        // SAFETY: the slice is `block_bytes` long and initialised (mmap gives zeros); the slot is idle, so
        // the kernel does not use it, and the reference borrows `self`, so no push can happen meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) }
    }

    #[inline]
    fn push(&mut self, slot: Slot, read: bool, offset_bytes: u64) {
        let state = &mut self.slots[usize::from(slot)];
        assert!(!state.busy, "one I/O per slot");
        state.busy = true;
        let (file, buffer, length) = (types::Fixed(0), self.buffers.at(slot), self.shape.block_bytes);
        let entry = match (self.registered, read) {
            (true, true) => opcode::ReadFixed::new(file, buffer, length, slot).offset(offset_bytes).build(),
            (true, false) => opcode::WriteFixed::new(file, buffer, length, slot).offset(offset_bytes).build(),
            (false, true) => opcode::Read::new(file, buffer, length).offset(offset_bytes).build(),
            (false, false) => opcode::Write::new(file, buffer, length).offset(offset_bytes).build(),
        }
        .user_data(u64::from(slot));
        // SAFETY: file and buffer stay valid until the completion is reaped: the target holds its file open
        // for the whole run, and drop waits for every I/O before it frees the buffers.
        let taken = unsafe { self.ring.submission().push(&entry) };
        assert!(taken.is_ok(), "the ring has an entry for every slot");
        self.pushed.push(slot);
        self.in_flight += 1;
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.stamp();
        persist(|| self.ring.submit())
    }

    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        self.stamp();
        loop {
            persist(|| self.ring.submit_and_wait(1))?;
            // Only what is there now belongs to this stamp: later ones may start after it.
            self.seen_ns = self.shape.clock.now_ns();
            self.batch = self.ring.completion().len();
            if self.batch > 0 || self.in_flight == 0 {
                return Ok(());
            }
        }
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        self.batch = self.batch.checked_sub(1)?;
        let entry = self.ring.completion().next()?;
        let slot = entry.user_data() as Slot;
        let state = &mut self.slots[usize::from(slot)];
        state.busy = false;
        self.in_flight -= 1;
        Some(Completion { slot, result: entry.result(), started_ns: state.started_ns, done_ns: self.seen_ns })
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.wait().is_err() {
                // The kernel may still write into the buffers: leaking them is the only safe end.
                return;
            }
            while self.reap().is_some() {}
        }
        // The kernel takes a closed ring apart some time later, and a device that is held exclusively would
        // stay so until then. Nothing can be done if it fails.
        let _ = self.ring.submitter().unregister_files();
        // SAFETY: nothing is in flight and `buffers` is not used after this.
        unsafe { ManuallyDrop::drop(&mut self.buffers) };
    }
}
