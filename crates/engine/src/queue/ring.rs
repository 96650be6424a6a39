//! An io_uring instance: the submission queue (SQ) and completion queue (CQ), which are shared with the kernel,
//! and the system calls for them.
//!
//! SQEs are written and CQEs read in place. With a general-purpose binding, copying them in function calls took
//! 5 of the 75 ns per no-op. Names and layouts follow `linux/io_uring.h`.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::io_uring::{
    IORING_OFF_SQ_RING, IORING_OFF_SQES, IoringEnterFlags as Enter, IoringFeatureFlags as Feature,
    IoringRegisterOp as Register, IoringSetupFlags as Setup, IoringSqFlags, io_uring_enter,
    io_uring_enter_arg, io_uring_getevents_arg, io_uring_params, io_uring_ptr, io_uring_register,
    io_uring_rsrc_update, io_uring_setup,
};
use rustix::time::Timespec;

use super::entry::{Done, Submission};
use super::mapping::Mapping;
use crate::options::Polling;

/// A ring with entries of one size, used by the thread that created it.
pub(crate) struct Ring<S: Submission> {
    file: OwnedFd,
    /// Index of the ring's registered descriptor, which saves a lookup per call.
    registered: Option<RawFd>,
    submissions: Submissions<S>,
    completions: Completions,
    /// Whether each SQE is submitted by a call of its own.
    apart: bool,
    /// Whether a kernel thread consumes SQEs as soon as they are published (`IORING_SETUP_SQPOLL`).
    polled_by_kernel: bool,
    /// Whether calls can wait with a timeout (Linux 5.11).
    timed: bool,
    /// The first call that was refused after the last progress.
    refused: Option<Refused>,
    /// Declared last, so that it is unmapped after everything that points into it.
    _memory: [Mapping; 2],
}

/// A call that the kernel refused temporarily.
struct Refused {
    at: Instant,
    /// Counts at the time of the refusal: SQEs consumed by the kernel, CQEs consumed here, and the CQ tail.
    counts: [u32; 3],
}

/// The application's side of the SQ.
struct Submissions<S> {
    /// The SQ tail, which is the published value of `next`.
    tail: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<S>,
    mask: u32,
    /// Numbers of SQEs written, published, and consumed by the kernel.
    next: u32,
    published: u32,
    consumed: u32,
}

/// The application's side of the CQ.
struct Completions {
    /// The CQ head: the published value of `next`.
    head: NonNull<AtomicU32>,
    tail: NonNull<AtomicU32>,
    entries: NonNull<Done>,
    mask: u32,
    /// Base-2 logarithm of the space per CQE: 1 with `IORING_SETUP_CQE32`, otherwise 0.
    places_shift: u32,
    /// Number of CQEs consumed, and the CQ tail as last read.
    next: u32,
    end: u32,
}

/// Longest sleep between checks if timed waits are not supported; also the sleep after a refused call.
const NAP: Duration = Duration::from_micros(50);
/// Time without progress after which refused calls are reported as an error.
const LONGEST_REFUSAL: Duration = Duration::from_secs(5);

/// Setup flags from the newest kernel to the oldest; the first set that the kernel accepts is used.
const GRANTS: &[Setup] = &[
    // Linux 6.6: no SQ index array (`NO_SQARRAY`). Linux 6.1: completion work is deferred until the thread
    // enters the kernel for completions (`DEFER_TASKRUN`).
    Setup::SINGLE_ISSUER.union(Setup::COOP_TASKRUN).union(Setup::DEFER_TASKRUN).union(Setup::NO_SQARRAY),
    Setup::SINGLE_ISSUER.union(Setup::COOP_TASKRUN).union(Setup::DEFER_TASKRUN),
    // Linux 5.19: completions do not interrupt the thread (`COOP_TASKRUN`).
    Setup::COOP_TASKRUN,
    Setup::empty(),
];
/// Setup flags with a kernel thread for submission (`SQPOLL`), which is compatible with fewer flags.
const SUBMITTING_GRANTS: &[Setup] = &[
    Setup::SQPOLL.union(Setup::SINGLE_ISSUER).union(Setup::NO_SQARRAY),
    Setup::SQPOLL.union(Setup::SINGLE_ISSUER),
    Setup::SQPOLL,
];
/// Time without new SQEs after which the kernel's submission thread goes to sleep.
const SUBMITTER_IDLE_MS: u32 = 100;

impl<S: Submission> Ring<S> {
    /// Creates a ring with at least this many entries. Must be called by the thread that uses the ring.
    /// If `apart`, each SQE is submitted by a call of its own, unless the kernel's thread submits them.
    pub(crate) fn new(entries: u32, polling: Polling, apart: bool) -> io::Result<Self> {
        let (file, params) = granted(entries, S::FLAGS, polling)?;
        Self::of(file, &params, polling, apart)
    }

    fn of(file: OwnedFd, params: &io_uring_params, polling: Polling, apart: bool) -> io::Result<Self> {
        // Linux 5.4.
        if !params.features.contains(Feature::SINGLE_MMAP) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let big = params.flags.contains(Setup::CQE32);
        let done_bytes = size_of::<Done>() << u32::from(big);
        let (sq, cq) = (&params.sq_off, &params.cq_off);
        let indices = sq.array as usize + params.sq_entries as usize * size_of::<u32>();
        let rings_bytes = (cq.cqes as usize + params.cq_entries as usize * done_bytes).max(indices);
        let rings = Mapping::shared(&file, rings_bytes, IORING_OFF_SQ_RING)?;
        let entries = Mapping::shared(&file, params.sq_entries as usize * size_of::<S>(), IORING_OFF_SQES)?;
        if !params.flags.contains(Setup::NO_SQARRAY) {
            for index in 0..params.sq_entries {
                // SAFETY: the array has an index for each SQE, and the kernel does not read any of them yet.
                unsafe { rings.at::<u32>((sq.array + 4 * index) as usize).write(index) };
            }
        }
        let submissions = Submissions {
            tail: rings.at(sq.tail as usize),
            flags: rings.at(sq.flags as usize),
            entries: entries.at(0),
            mask: params.sq_entries - 1,
            next: 0,
            published: 0,
            consumed: 0,
        };
        let completions = Completions {
            head: rings.at(cq.head as usize),
            tail: rings.at(cq.tail as usize),
            entries: rings.at(cq.cqes as usize),
            mask: params.cq_entries - 1,
            places_shift: u32::from(big),
            next: 0,
            end: 0,
        };
        let mut ring = Self {
            file,
            registered: None,
            submissions,
            completions,
            apart,
            polled_by_kernel: polling == Polling::Submissions,
            // With `IOPOLL`, the kernel polls without checking the timeout.
            timed: params.features.contains(Feature::EXT_ARG) && polling != Polling::Completions,
            refused: None,
            _memory: [rings, entries],
        };
        // This is optional and saves a lookup per call (Linux 5.18).
        ring.registered = ring.register_itself().ok();
        Ok(ring)
    }

    /// Registers a file, which SQEs refer to by index 0.
    pub(crate) fn register_file(&self, file: RawFd) -> io::Result<()> {
        // SAFETY: the kernel reads one descriptor, and takes its own reference to the file.
        unsafe { self.register(Register::RegisterFiles, (&raw const file).cast(), 1) }
    }

    /// Registers memory, which SQEs refer to by its index in the list.
    ///
    /// # Safety
    /// The memory must stay mapped as long as any SQE uses it.
    pub(crate) unsafe fn register_buffers(&self, buffers: &[libc::iovec]) -> io::Result<()> {
        // SAFETY: the list has the given length; the caller guarantees the rest.
        unsafe { self.register(Register::RegisterBuffers, buffers.as_ptr().cast(), buffers.len() as u32) }
    }

    /// Returns the maximum number of this thread's bounded io-wq workers, which perform I/Os that may block
    /// (Linux 5.15).
    pub(crate) fn helpers(&self) -> io::Result<u32> {
        let mut limits = [0u32; 2];
        // SAFETY: the kernel reads two numbers (0 means no change) and writes the current limits.
        unsafe { self.register(Register::RegisterIowqMaxWorkers, limits.as_mut_ptr().cast(), 2) }?;
        // The second limit applies to files that are neither block devices nor regular files.
        Ok(limits[0])
    }

    /// Writes an SQE to the ring, without publishing it.
    ///
    /// # Safety
    /// Everything that the SQE refers to must stay valid until its CQE is consumed, and the number of SQEs in
    /// flight must not exceed the number of entries that the ring was created with.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: S) {
        let Submissions { entries, mask, next, .. } = &mut self.submissions;
        // SAFETY: the index is below the number of entries, and the kernel has consumed the previous SQE at
        // this index, because otherwise that SQE would still be in flight.
        unsafe { entries.add((*next & *mask) as usize).write(entry) };
        *next = next.wrapping_add(1);
    }

    /// Returns the `user_data` of the SQEs that the next call will publish.
    #[inline]
    pub(crate) fn unpublished(&self) -> impl Iterator<Item = u64> {
        let Submissions { entries, mask, next, published, .. } = self.submissions;
        (0..next.wrapping_sub(published)).map(move |ahead| {
            let place = published.wrapping_add(ahead) & mask;
            // SAFETY: the index is below the number of entries, and `push` has written this one.
            unsafe { entries.add(place as usize).as_ref() }.head().user_data
        })
    }

    #[inline]
    pub(crate) fn has_unsubmitted(&self) -> bool {
        self.unsubmitted() > 0
    }

    #[inline]
    fn unsubmitted(&self) -> u32 {
        self.submissions.next.wrapping_sub(self.submissions.consumed)
    }

    /// Returns the number of SQEs whose CQEs have not been consumed.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        self.submissions.next.wrapping_sub(self.completions.next) as usize
    }

    /// Returns the number of CQEs that the last [`peek`](Self::peek) found and that have not been consumed.
    #[inline]
    pub(crate) fn ready(&self) -> usize {
        self.completions.end.wrapping_sub(self.completions.next) as usize
    }

    /// Submits all SQEs and waits for `count` CQEs.
    ///
    /// Interrupted calls are repeated. A call that the kernel refuses until CQEs are consumed counts as
    /// successful, because the next call submits the rest. If refusals persist without any progress, they become
    /// an error.
    #[inline]
    pub(crate) fn enter(&mut self, count: u32) -> io::Result<()> {
        let Some(flags) = self.publish(count > 0) else { return Ok(()) };
        if self.apart && !self.enter_apart(flags)? {
            return Ok(());
        }
        loop {
            // SAFETY: every SQE is fully written, and valid as `push` requires.
            match unsafe { io_uring_enter(self.descriptor(), self.unsubmitted(), count, flags) } {
                Ok(consumed) => {
                    // After a partial submission, the next call submits the rest, once the available CQEs
                    // have been processed.
                    self.note_consumed(consumed);
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(error @ (Errno::BUSY | Errno::AGAIN)) => return self.refused(error),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Submits all SQEs and waits at most `time` for a CQE; does not wait if `time` is zero.
    pub(crate) fn enter_for(&mut self, time: Duration) -> io::Result<()> {
        let waits = self.timed && !time.is_zero();
        if !waits && !time.is_zero() {
            std::thread::sleep(time.min(NAP));
        }
        let Some(flags) = self.publish(true) else { return Ok(()) };
        if self.apart && !self.enter_apart(flags)? {
            return Ok(());
        }
        let entered = if waits {
            let mut limit =
                Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() };
            let ts = io_uring_ptr::new((&raw mut limit).cast());
            let argument = io_uring_getevents_arg { ts, ..io_uring_getevents_arg::default() };
            // SAFETY: as in `enter`; the argument and the timeout that it points to outlive the call.
            unsafe {
                io_uring_enter_arg(
                    self.descriptor(),
                    self.unsubmitted(),
                    1,
                    flags | Enter::EXT_ARG,
                    Some(&argument),
                )
            }
        } else {
            // SAFETY: as in `enter`.
            unsafe { io_uring_enter(self.descriptor(), self.unsubmitted(), 0, flags) }
        };
        match entered {
            Ok(consumed) => self.note_consumed(consumed),
            Err(Errno::TIME | Errno::INTR) => {}
            Err(error @ (Errno::BUSY | Errno::AGAIN)) => return self.refused(error),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Submits each SQE but the last with a call of its own. Returns false if the kernel accepts no more for now.
    fn enter_apart(&mut self, flags: Enter) -> io::Result<bool> {
        while self.unsubmitted() > 1 {
            // SAFETY: as in `enter`.
            match unsafe { io_uring_enter(self.descriptor(), 1, 0, flags - Enter::GETEVENTS) } {
                Ok(0) => return Ok(false),
                Ok(consumed) => self.note_consumed(consumed),
                Err(Errno::INTR) => {}
                Err(error @ (Errno::BUSY | Errno::AGAIN)) => return self.refused(error).map(|()| false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Tolerates a refused call, unless calls have been refused for too long without progress.
    #[cold]
    fn refused(&mut self, error: Errno) -> io::Result<()> {
        let counts = [self.submissions.consumed, self.completions.next, self.completions.end];
        match &self.refused {
            Some(first) if first.counts == counts && first.at.elapsed() < LONGEST_REFUSAL => {
                std::thread::sleep(NAP);
            }
            Some(first) if first.counts == counts => {
                return Err(io::Error::other(format!(
                    "io_uring_enter failed for {} s and no I/O completed; the kernel lacks memory or another \
                     resource; stop other programs or use another engine: {error}",
                    LONGEST_REFUSAL.as_secs()
                )));
            }
            _ => self.refused = Some(Refused { at: Instant::now(), counts }),
        }
        Ok(())
    }

    /// Publishes the CQ head, which frees the consumed CQEs, and reads the CQ tail to find the available CQEs.
    #[inline]
    pub(crate) fn peek(&mut self) {
        let Completions { head, tail, next, end, .. } = &mut self.completions;
        // SAFETY: both counters lie in a mapping that lives as long as `self`.
        let (head, tail) = unsafe { (head.as_ref(), tail.as_ref()) };
        head.store(*next, Ordering::Release);
        *end = tail.load(Ordering::Acquire);
    }

    /// Consumes the next CQE found by the last [`peek`](Self::peek).
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Done> {
        let Completions { entries, mask, places_shift, next, end, .. } = &mut self.completions;
        if *next == *end {
            return None;
        }
        let place = (*next & *mask) << *places_shift;
        // SAFETY: the index is below the number of entries, and the kernel writes a CQE before it advances
        // the tail.
        let done = unsafe { entries.add(place as usize).read() };
        *next = next.wrapping_add(1);
        Some(done)
    }

    /// Publishes the SQ tail. Returns the flags for `io_uring_enter`, or `None` if no call is needed.
    #[inline]
    fn publish(&mut self, waits: bool) -> Option<Enter> {
        let Submissions { tail, next, published, consumed, .. } = &mut self.submissions;
        *published = *next;
        // SAFETY: the counter lies in a mapping that lives as long as `self`.
        unsafe { tail.as_ref() }.store(*next, Ordering::Release);
        let mut flags = if waits { Enter::GETEVENTS } else { Enter::empty() };
        if self.registered.is_some() {
            flags |= Enter::REGISTERED_RING;
        }
        if self.polled_by_kernel {
            *consumed = *next;
            if self.submitter_sleeps() {
                flags |= Enter::SQ_WAKEUP;
            } else if !waits {
                return None;
            }
        }
        Some(flags)
    }

    /// Counts SQEs that the kernel consumed. Has no effect with `SQPOLL`, where `publish` has already counted
    /// them.
    #[inline]
    fn note_consumed(&mut self, count: u32) {
        if !self.polled_by_kernel {
            self.submissions.consumed = self.submissions.consumed.wrapping_add(count);
        }
    }

    /// Returns whether the kernel's submission thread must be woken up.
    fn submitter_sleeps(&self) -> bool {
        // The thread sets the flag and then checks the tail again, so the tail must be visible before the
        // flag is read.
        fence(Ordering::SeqCst);
        // SAFETY: the flags lie in a mapping that lives as long as `self`.
        let flags = unsafe { self.submissions.flags.as_ref() }.load(Ordering::Relaxed);
        flags & IoringSqFlags::NEED_WAKEUP.bits() != 0
    }

    /// Returns the ring's descriptor for system calls.
    #[inline]
    fn descriptor(&self) -> BorrowedFd<'_> {
        match self.registered {
            // SAFETY: this is not a descriptor but an index assigned by the kernel. It is valid for the life of
            // this ring and is passed only to calls whose flags mark it as an index.
            Some(number) => unsafe { BorrowedFd::borrow_raw(number) },
            None => self.file.as_fd(),
        }
    }

    fn register_itself(&self) -> io::Result<RawFd> {
        let mut update = io_uring_rsrc_update::default();
        update.offset = u32::MAX;
        update.data = io_uring_ptr::new(std::ptr::without_provenance_mut(self.file.as_raw_fd() as usize));
        // SAFETY: the kernel reads one update, and writes the assigned index into it.
        unsafe { self.register(Register::RegisterRingFds, (&raw mut update).cast(), 1) }?;
        Ok(update.offset.cast_signed())
    }

    fn unregister_itself(&self) -> io::Result<()> {
        let Some(number) = self.registered else { return Ok(()) };
        let mut update = io_uring_rsrc_update::default();
        update.offset = number.cast_unsigned();
        // SAFETY: the kernel reads one update.
        unsafe { self.register(Register::UnregisterRingFds, (&raw const update).cast(), 1) }
    }

    /// # Safety
    /// `argument` must point to `count` of the structures that the operation `what` expects.
    unsafe fn register(&self, what: Register, argument: *const c_void, count: u32) -> io::Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { io_uring_register(&self.file, what, argument, count) }?;
        Ok(())
    }
}

impl<S: Submission> Drop for Ring<S> {
    fn drop(&mut self) {
        // The kernel tears down a closed ring with a delay, during which an exclusively opened device would
        // remain busy. Failures cannot be handled here. SAFETY: this operation has no argument.
        let _ = unsafe { self.register(Register::UnregisterFiles, std::ptr::null(), 0) };
        let _ = self.unregister_itself();
    }
}

/// Creates a ring with the best setup flags that this kernel accepts.
fn granted(entries: u32, of_entries: Setup, polling: Polling) -> io::Result<(OwnedFd, io_uring_params)> {
    let grants = if polling == Polling::Submissions { SUBMITTING_GRANTS } else { GRANTS };
    let polled = if polling == Polling::Completions { Setup::IOPOLL } else { Setup::empty() };
    for grant in grants {
        match set_up(entries, *grant | of_entries | polled) {
            Err(Errno::INVAL) => {}
            answer => return Ok(answer?),
        }
    }
    Err(Errno::INVAL.into())
}

fn set_up(entries: u32, flags: Setup) -> Result<(OwnedFd, io_uring_params), Errno> {
    let mut params = io_uring_params::default();
    params.flags = flags;
    if flags.contains(Setup::SQPOLL) {
        params.sq_thread_idle = SUBMITTER_IDLE_MS;
    }
    // SAFETY: a new ring accesses only its own memory until an SQE is pushed.
    let file = unsafe { io_uring_setup(entries, &mut params) }?;
    Ok((file, params))
}

#[cfg(test)]
mod tests;
