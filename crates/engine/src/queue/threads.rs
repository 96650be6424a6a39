//! I/O with `pread` and `pwrite`, called by the worker itself at QD 1 and by a pool of helpers at greater
//! depths.
//!
//! Time stamps are taken immediately before and after the system call, so waiting for a helper is not part of
//! the response time.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use record::Effort;
use rustix::fs::FallocateFlags;
use stdx::access::Access;

use super::buffers::Buffers;
use super::stamps::Stamps;
use super::trim::Trim;
use super::{Completion, Queue, Shape, Slot, Sync};
use crate::effort;
use crate::options::SpaceCall;

/// What to perform.
#[derive(Debug, Clone, Copy)]
struct Request {
    slot: Slot,
    call: Call,
}

#[derive(Debug, Clone, Copy)]
enum Call {
    Transfer(Access),
    Sync(Sync),
}

/// One worker's queue.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    /// The worker's time stamps; each helper has its own.
    stamps: Stamps,
    helpers: Vec<JoinHandle<Effort>>,
    busy: Vec<bool>,
    pushed: Vec<Request>,
    finished: VecDeque<Completion>,
    in_flight: usize,
}

struct Shared {
    buffers: Buffers,
    shape: Shape,
    /// How blocks are trimmed; `None` if they are written.
    trim: Option<Trim>,
    lists: Mutex<Lists>,
    requested: Condvar,
    completed: Condvar,
}

struct Lists {
    requests: VecDeque<Request>,
    completions: VecDeque<Completion>,
    closing: bool,
}

impl Shared {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        // A panicking helper leaves the lists consistent, because every change is a single push or pop.
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs one I/O or sync. The caller owns the slot.
    fn perform(&self, request: Request, stamps: &mut Stamps) -> Completion {
        let slot = request.slot;
        let Access { read, block_bytes, offset_bytes } = match request.call {
            Call::Transfer(access) => match self.trim {
                Some(trim) if !access.read => return self.trimmed(slot, trim, access, stamps),
                _ => match self.shape.space {
                    Some(call) => return self.spaced(slot, call, access, stamps),
                    None => access,
                },
            },
            Call::Sync(sync) => return self.sync(slot, sync, stamps),
        };
        // SAFETY: the slice is `block_bytes` long and initialised; its slot is busy and owned by this request
        // alone, because `Threads::push` and `Threads::buffer` check that, and a request is popped only once.
        let buffer =
            unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) };
        let buffer = &mut buffer[..block_bytes as usize];
        let (file, flags) = (self.file(), self.shape.write_flags());
        let started_ns = stamps.start_ns();
        let answer = if read {
            rustix::io::pread(file, buffer, offset_bytes)
        } else if flags.is_empty() {
            rustix::io::pwrite(file, buffer, offset_bytes)
        } else {
            rustix::io::pwritev2(file, &[IoSlice::new(buffer)], offset_bytes, flags)
        };
        let done_ns = stamps.now_ns();
        let result = answer.map_or_else(|errno| -errno.raw_os_error(), |n| n as i32);
        Completion { slot, result, started_ns, done_ns }
    }

    fn trimmed(&self, slot: Slot, trim: Trim, access: Access, stamps: &mut Stamps) -> Completion {
        let started_ns = stamps.start_ns();
        let answer = trim.perform(self.file(), access.offset_bytes, access.block_bytes.into());
        let done_ns = stamps.now_ns();
        let errno = |error: io::Error| -error.raw_os_error().unwrap_or(libc::EIO);
        let result = answer.map_or_else(errno, |()| access.block_bytes.cast_signed());
        Completion { slot, result, started_ns, done_ns }
    }

    fn spaced(&self, slot: Slot, call: SpaceCall, access: Access, stamps: &mut Stamps) -> Completion {
        let file = self.file();
        let Access { read, block_bytes, offset_bytes } = access;
        // As in fio, a read allocates blocks without a change of the length.
        let flags = if read { FallocateFlags::KEEP_SIZE } else { FallocateFlags::empty() };
        let started_ns = stamps.start_ns();
        let answer = match call {
            SpaceCall::Allocate => rustix::fs::fallocate(file, flags, offset_bytes, block_bytes.into()),
            SpaceCall::Truncate => rustix::fs::ftruncate(file, offset_bytes),
        };
        let done_ns = stamps.now_ns();
        let result = answer.map_or_else(|errno| -errno.raw_os_error(), |()| block_bytes.cast_signed());
        Completion { slot, result, started_ns, done_ns }
    }

    #[cold]
    fn sync(&self, slot: Slot, sync: Sync, stamps: &mut Stamps) -> Completion {
        let file = self.file();
        let started_ns = stamps.start_ns();
        let answer = match sync {
            Sync::Fsync => rustix::fs::fsync(file),
            Sync::Fdatasync => rustix::fs::fdatasync(file),
        };
        let done_ns = stamps.now_ns();
        let result = answer.map_or_else(|errno| -errno.raw_os_error(), |()| 0);
        Completion { slot, result, started_ns, done_ns }
    }

    fn file(&self) -> BorrowedFd<'_> {
        // SAFETY: the target keeps its file open until the end of the run, and the helpers are joined before that.
        unsafe { BorrowedFd::borrow_raw(self.shape.fd) }
    }

    /// Performs I/Os until the queue closes. Returns the CPU cost.
    fn help(&self) -> Effort {
        let mut stamps = Stamps::of(self.shape.clock);
        loop {
            let mut lists = self.lists();
            let request = loop {
                if let Some(request) = lists.requests.pop_front() {
                    break request;
                }
                if lists.closing {
                    return effort::of_this_thread();
                }
                lists = self.requested.wait(lists).unwrap_or_else(PoisonError::into_inner);
            };
            drop(lists);
            let completion = self.perform(request, &mut stamps);
            self.lists().completions.push_back(completion);
            self.completed.notify_one();
        }
    }
}

impl Threads {
    fn queue(&mut self, request: Request) {
        let busy = &mut self.busy[usize::from(request.slot)];
        assert!(!*busy, "one I/O per slot");
        *busy = true;
        self.in_flight += 1;
        self.pushed.push(request);
    }

    /// Starts the helpers, if the depth requires any.
    pub(crate) fn new(shape: Shape) -> io::Result<Self> {
        let depth = usize::from(shape.depth);
        let lists = Lists {
            requests: VecDeque::with_capacity(depth),
            completions: VecDeque::with_capacity(depth),
            closing: false,
        };
        let trim = if shape.trims && shape.zoned {
            Some(Trim::ResetZone)
        } else if shape.trims {
            // SAFETY: the target keeps its file open during the load.
            Some(Trim::of(unsafe { BorrowedFd::borrow_raw(shape.fd) })?)
        } else {
            None
        };
        let shared = Arc::new(Shared {
            buffers: Buffers::new(shape.slots(), shape.block_bytes)?,
            shape,
            trim,
            lists: Mutex::new(lists),
            requested: Condvar::new(),
            completed: Condvar::new(),
        });
        let mut queue = Self {
            shared,
            stamps: Stamps::of(shape.clock),
            helpers: Vec::with_capacity(depth),
            busy: vec![false; shape.slots().into()],
            pushed: Vec::with_capacity(depth),
            finished: VecDeque::with_capacity(depth),
            in_flight: 0,
        };
        let helpers = if depth == 1 { 0 } else { depth };
        for _ in 0..helpers {
            let shared = Arc::clone(&queue.shared);
            let builder = std::thread::Builder::new().name("io-helper".into()).stack_size(128 << 10);
            queue.helpers.push(builder.spawn(move || shared.help())?);
        }
        Ok(queue)
    }
}

impl Queue for Threads {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(!self.busy[usize::from(slot)], "a helper owns this buffer");
        let buffers = &self.shared.buffers;
        // SAFETY: as in `perform`; the slot is idle, so no request for it exists, and the reference borrows
        // `self`, so none can be pushed while it exists.
        unsafe { std::slice::from_raw_parts_mut(buffers.at(slot), buffers.block_bytes()) }
    }

    fn push(&mut self, slot: Slot, access: Access) {
        self.queue(Request { slot, call: Call::Transfer(access) });
    }

    fn push_sync(&mut self, slot: Slot, sync: Sync) {
        self.queue(Request { slot, call: Call::Sync(sync) });
    }

    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.helpers.is_empty() {
            return Ok(());
        }
        let count = self.pushed.len();
        self.shared.lists().requests.extend(self.pushed.drain(..));
        for _ in 0..count {
            self.shared.requested.notify_one();
        }
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        if self.helpers.is_empty() {
            let Self { shared, stamps, pushed, finished, .. } = self;
            finished.extend(pushed.drain(..).map(|request| shared.perform(request, stamps)));
            return Ok(());
        }
        self.flush()?;
        let mut lists = self.shared.lists();
        while lists.completions.is_empty() && self.in_flight > 0 {
            lists = self.shared.completed.wait(lists).unwrap_or_else(PoisonError::into_inner);
        }
        self.finished.extend(lists.completions.drain(..));
        Ok(())
    }

    fn wait_until(&mut self, until_ns: u64) -> io::Result<()> {
        if until_ns == u64::MAX || (self.helpers.is_empty() && !self.pushed.is_empty()) {
            return self.wait();
        }
        self.flush()?;
        loop {
            let mut lists = self.shared.lists();
            let now_ns = self.stamps.now_ns();
            if let Some(time) = super::sleep_before(until_ns, now_ns).filter(|_| lists.completions.is_empty())
            {
                lists =
                    self.shared.completed.wait_timeout(lists, time).unwrap_or_else(PoisonError::into_inner).0;
            }
            self.finished.extend(lists.completions.drain(..));
            drop(lists);
            if !self.finished.is_empty() || now_ns >= until_ns {
                return Ok(());
            }
            std::hint::spin_loop();
        }
    }

    fn reap(&mut self) -> Option<Completion> {
        let completion = self.finished.pop_front()?;
        self.busy[usize::from(completion.slot)] = false;
        self.in_flight -= 1;
        Some(completion)
    }

    fn retire(&mut self) -> Effort {
        self.shared.lists().closing = true;
        self.shared.requested.notify_all();
        let mut sum = Effort::default();
        // The CPU cost of a helper that panicked is unknown.
        self.helpers.drain(..).filter_map(|helper| helper.join().ok()).for_each(|cost| sum.add(&cost));
        sum
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.retire();
    }
}
