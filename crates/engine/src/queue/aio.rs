//! Linux native asynchronous I/O (`libaio`), for hosts where io_uring is disabled or missing.
//!
//! It is asynchronous only with direct I/O: through the page cache, each submission would wait for its I/O.

use std::io;
use std::mem::ManuallyDrop;

use stdx::access::Access;

use super::buffers::Buffers;
use super::stamps::Stamps;
use super::{Completion, Queue, REFILL_BATCH, Shape, Slot, Sync};

const READ: u16 = 0;
const WRITE: u16 = 1;
const FSYNC: u16 = 2;
const FDSYNC: u16 = 3;
/// The field `priority` applies.
const IOCB_FLAG_IOPRIO: u32 = 1 << 1;

/// `struct iocb` from `linux/aio_abi.h` on little-endian machines.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Request {
    data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    priority: u16,
    fd: u32,
    buffer: u64,
    length_bytes: u64,
    offset_bytes: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event` from the same header.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    request: u64,
    result: i64,
    result2: i64,
}

/// One worker's queue.
pub(crate) struct Aio {
    context: libc::c_ulong,
    buffers: ManuallyDrop<Buffers>,
    shape: Shape,
    /// `RWF_DSYNC` or `RWF_SYNC`, if requested.
    write_flags: i32,
    stamps: Stamps,
    /// By slot; 0 for the priority of the thread.
    priorities: Vec<u16>,
    requests: Vec<Request>,
    busy: Vec<bool>,
    started_ns: Vec<u64>,
    /// Slots whose I/Os are queued but not yet submitted.
    pushed: Vec<Slot>,
    /// Addresses of these requests, for one system call.
    addresses: Vec<*mut Request>,
    in_flight: usize,
    events: Vec<Event>,
    seen: usize,
    taken: usize,
    seen_ns: u64,
}

impl Aio {
    pub(crate) fn new(shape: Shape) -> io::Result<Self> {
        if cfg!(target_endian = "big") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (depth, slots) = (usize::from(shape.depth), usize::from(shape.slots()));
        let buffers = Buffers::new(shape.slots(), shape.block_bytes)?;
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one unsigned long through the pointer; it must be zero before the call,
        // and is.
        check(unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) })?;
        Ok(Self {
            context,
            buffers: ManuallyDrop::new(buffers),
            shape,
            write_flags: shape.write_flags().bits().cast_signed(),
            stamps: Stamps::of(shape.clock),
            priorities: vec![0; slots],
            requests: vec![Request::default(); slots],
            busy: vec![false; slots],
            started_ns: vec![0; slots],
            pushed: Vec::with_capacity(depth),
            addresses: Vec::with_capacity(depth),
            in_flight: 0,
            events: vec![Event::default(); depth],
            seen: 0,
            taken: 0,
            seen_ns: 0,
        })
    }

    /// Submits as many of the queued I/Os as the kernel accepts.
    fn submit(&mut self) {
        let at_once = if self.submits_apart() { 1 } else { self.pushed.len() };
        while !self.pushed.is_empty() && self.submit_first(at_once) {}
    }

    /// Submits the first `count` of the queued I/Os with one system call; returns whether the kernel accepted all of them.
    fn submit_first(&mut self, count: usize) -> bool {
        let now_ns = self.stamps.start_ns();
        self.addresses.clear();
        for &slot in &self.pushed[..count] {
            self.started_ns[usize::from(slot)] = now_ns;
            self.addresses.push(self.requests.as_mut_ptr().wrapping_add(usize::from(slot)));
        }
        // SAFETY: the kernel reads this many pointers to requests. Their file and buffers stay valid until they
        // complete: the target outlives the queue, and drop waits for every I/O.
        let answer =
            unsafe { libc::syscall(libc::SYS_io_submit, self.context, count, self.addresses.as_mut_ptr()) };
        match check(answer) {
            Ok(taken) => {
                drop(self.pushed.drain(..taken));
                return taken == count;
            }
            // Continue, because reaping completions frees space.
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) && self.running() > 0 => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Unlike other engines, libaio reports the failure of a request at submission, and only for the
            // first request.
            Err(error) => self.refuse_first(&error, now_ns),
        }
        false
    }

    /// Reaps completions: at least `least`, unless `time` elapses first. All completions of the previous call
    /// must have been consumed.
    fn take_events(&mut self, least: usize, time: Option<std::time::Duration>) -> io::Result<()> {
        let limit = time.map(|time| libc::timespec {
            // The type is left unnamed, because musl deprecates its `time_t`.
            tv_sec: time.as_secs() as _,
            tv_nsec: time.subsec_nanos() as libc::c_long,
        });
        // SAFETY: the kernel writes at most the number of events that the vector has room for, and reads the
        // timeout if there is one.
        let answer = unsafe {
            let (room, events) = (self.events.len(), self.events.as_mut_ptr());
            let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            libc::syscall(libc::SYS_io_getevents, self.context, least, room, events, limit)
        };
        match check(answer) {
            Ok(seen) => (self.seen, self.taken) = (seen, 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        self.seen_ns = self.stamps.now_ns();
        Ok(())
    }

    /// Queues a request on its slot.
    fn queue(&mut self, slot: Slot, request: Request) {
        let index = usize::from(slot);
        assert!(!std::mem::replace(&mut self.busy[index], true), "one I/O per slot");
        self.requests[index] = request;
        self.pushed.push(slot);
        self.in_flight += 1;
    }

    /// Returns the number of I/Os in the kernel.
    fn running(&self) -> usize {
        self.in_flight - self.pushed.len() - (self.seen - self.taken)
    }

    /// Turns the failure of the first request into that request's completion.
    #[cold]
    fn refuse_first(&mut self, error: &io::Error, now_ns: u64) {
        let data = u64::from(self.pushed.remove(0));
        let result = -i64::from(error.raw_os_error().unwrap_or(libc::EIO));
        self.events.copy_within(self.taken..self.seen, 0);
        (self.seen, self.taken) = (self.seen - self.taken, 0);
        self.events[self.seen] = Event { data, request: 0, result, result2: 0 };
        self.seen += 1;
        self.seen_ns = now_ns;
    }
}

impl Queue for Aio {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(!self.busy[usize::from(slot)], "the kernel owns this buffer");
        // SAFETY: the slice is `block_bytes` long and initialised; the slot is idle, so the kernel does not
        // use it, and the reference borrows `self`, so nothing can be pushed while it exists.
        unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) }
    }

    fn push(&mut self, slot: Slot, access: Access) {
        assert!(access.block_bytes <= self.shape.block_bytes, "the buffer would overflow");
        let priority = self.priorities[usize::from(slot)];
        let request = Request {
            data: u64::from(slot),
            priority,
            flags: if priority == 0 { 0 } else { IOCB_FLAG_IOPRIO },
            rw_flags: if access.read { 0 } else { self.write_flags },
            opcode: if access.read { READ } else { WRITE },
            fd: self.shape.fd.cast_unsigned(),
            buffer: self.buffers.at(slot) as u64,
            length_bytes: access.block_bytes.into(),
            offset_bytes: access.offset_bytes.cast_signed(),
            ..Request::default()
        };
        self.queue(slot, request);
    }

    fn set_priority(&mut self, slot: Slot, priority: u16) {
        self.priorities[usize::from(slot)] = priority;
    }

    fn push_sync(&mut self, slot: Slot, sync: Sync) {
        // The kernel requires all other fields to be zero.
        let request = Request {
            data: u64::from(slot),
            opcode: match sync {
                Sync::Fsync => FSYNC,
                Sync::Fdatasync => FDSYNC,
            },
            fd: self.shape.fd.cast_unsigned(),
            ..Request::default()
        };
        self.queue(slot, request);
    }

    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn flush(&mut self) -> io::Result<()> {
        self.submit();
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        loop {
            self.submit();
            if self.taken < self.seen || self.in_flight == 0 {
                return Ok(());
            }
            if self.running() > 0 {
                self.take_events(1, None)?;
            }
        }
    }

    fn wait_until(&mut self, until_ns: u64) -> io::Result<()> {
        if until_ns == u64::MAX {
            return self.wait();
        }
        loop {
            self.submit();
            if self.taken < self.seen {
                return Ok(());
            }
            let now_ns = self.stamps.now_ns();
            match super::sleep_before(until_ns, now_ns) {
                Some(time) => self.take_events(1, Some(time))?,
                None => self.take_events(0, Some(std::time::Duration::ZERO))?,
            }
            if now_ns >= until_ns {
                return Ok(());
            }
        }
    }

    fn refill_batch(&self) -> u32 {
        if self.submits_apart() { 1 } else { REFILL_BATCH }
    }

    fn submits_apart(&self) -> bool {
        self.shape.apart
    }

    fn reap(&mut self) -> Option<Completion> {
        if self.taken == self.seen {
            return None;
        }
        let event = self.events[self.taken];
        self.taken += 1;
        let slot = event.data as Slot;
        self.busy[usize::from(slot)] = false;
        self.in_flight -= 1;
        let started_ns = self.started_ns[usize::from(slot)];
        Some(Completion { slot, result: event.result as i32, started_ns, done_ns: self.seen_ns })
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        // Requests that were not submitted are dropped; the kernel waits for all others. SAFETY: the
        // context is our own and is not used afterwards. The call returns when no I/O is left in flight.
        let destroyed = check(unsafe { libc::syscall(libc::SYS_io_destroy, self.context) });
        if destroyed.is_ok() || self.running() == 0 {
            // SAFETY: the kernel has no I/O on these buffers, and they are not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}

fn check(answer: libc::c_long) -> io::Result<usize> {
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}
