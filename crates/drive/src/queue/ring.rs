//! An io_uring: the two rings that are shared with the kernel, and the calls that go with them.
//!
//! Entries are written where the kernel reads them, and completions are read where it writes them: a general-purpose
//! binding copied both, by calls, for 5 of the 75 ns that a no-op took.
//! Names and layouts are those of `linux/io_uring.h`.

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
use crate::Polling;

/// A ring of entries of one size, used by the thread that made it.
pub(crate) struct Ring<S: Submission> {
    file: OwnedFd,
    /// Number of the file among those that are registered for this thread, which saves a look-up per call.
    registered: Option<RawFd>,
    submissions: Submissions<S>,
    completions: Completions,
    /// A thread of the kernel takes them as soon as they are there.
    taken_by_kernel: bool,
    /// Whether a call can wait for a limited time (Linux 5.11).
    timed: bool,
    /// The first of the calls that were refused since anything moved.
    refused: Option<Refused>,
    /// Freed behind everything that points into them.
    _memory: [Mapping; 2],
}

/// A call that the kernel refused for now.
struct Refused {
    at: Instant,
    /// Entries that it had taken, completions that were taken from it, and those that were there.
    counts: [u32; 3],
}

/// Our end of the ring of entries.
struct Submissions<S> {
    /// What the kernel sees of `next`.
    tail: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<S>,
    mask: u32,
    /// Counts of the entries that were written, that the kernel can see, and that it took.
    next: u32,
    shown: u32,
    taken: u32,
}

/// Our end of the ring of completions.
struct Completions {
    /// What the kernel sees of `next`.
    head: NonNull<AtomicU32>,
    tail: NonNull<AtomicU32>,
    entries: NonNull<Done>,
    mask: u32,
    /// Entries take one place, or two.
    places_shift: u32,
    /// Counts of those that were taken, and that are there.
    next: u32,
    end: u32,
}

/// How often an older kernel is asked, and one that refused.
const NAP: Duration = Duration::from_micros(50);
/// So long the kernel may refuse all calls while nothing comes back.
const LONGEST_REFUSAL: Duration = Duration::from_secs(5);

/// Set-up flags from the newest kernel to the oldest; the first that the kernel takes are used.
const GRANTS: &[Setup] = &[
    // Linux 6.6: no second array of indices. Linux 6.1: completions are worked off when we ask for them.
    Setup::SINGLE_ISSUER.union(Setup::COOP_TASKRUN).union(Setup::DEFER_TASKRUN).union(Setup::NO_SQARRAY),
    Setup::SINGLE_ISSUER.union(Setup::COOP_TASKRUN).union(Setup::DEFER_TASKRUN),
    // Linux 5.19: completions interrupt nobody.
    Setup::COOP_TASKRUN,
    Setup::empty(),
];
/// The same where a thread of the kernel submits, which goes together with fewer of them.
const SUBMITTING_GRANTS: &[Setup] = &[
    Setup::SQPOLL.union(Setup::SINGLE_ISSUER).union(Setup::NO_SQARRAY),
    Setup::SQPOLL.union(Setup::SINGLE_ISSUER),
    Setup::SQPOLL,
];
/// So long the kernel's thread looks for entries in vain before it goes to sleep.
const SUBMITTER_IDLE_MS: u32 = 100;

impl<S: Submission> Ring<S> {
    /// A ring of at least so many entries. Must be called by the thread that uses it.
    pub(crate) fn new(entries: u32, polling: Polling) -> io::Result<Self> {
        let (file, params) = granted(entries, S::FLAGS, polling)?;
        Self::of(file, &params, polling)
    }

    fn of(file: OwnedFd, params: &io_uring_params, polling: Polling) -> io::Result<Self> {
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
                // SAFETY: the array has an index for each entry, and the kernel looks at none of them yet.
                unsafe { rings.at::<u32>((sq.array + 4 * index) as usize).write(index) };
            }
        }
        let submissions = Submissions {
            tail: rings.at(sq.tail as usize),
            flags: rings.at(sq.flags as usize),
            entries: entries.at(0),
            mask: params.sq_entries - 1,
            next: 0,
            shown: 0,
            taken: 0,
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
            taken_by_kernel: polling == Polling::Submissions,
            // Who polls for completions would do so without looking at the time.
            timed: params.features.contains(Feature::EXT_ARG) && polling != Polling::Completions,
            refused: None,
            _memory: [rings, entries],
        };
        // Without it everything still works (before Linux 5.18).
        ring.registered = ring.register_itself().ok();
        Ok(ring)
    }

    /// Registers the file that entries call number 0.
    pub(crate) fn register_file(&self, file: RawFd) -> io::Result<()> {
        // SAFETY: the kernel reads one number, and takes a reference to the file of its own.
        unsafe { self.register(Register::RegisterFiles, (&raw const file).cast(), 1) }
    }

    /// Registers memory, which entries call by its place in the list.
    ///
    /// # Safety
    /// The memory stays mapped until no entry uses it any more.
    pub(crate) unsafe fn register_buffers(&self, buffers: &[libc::iovec]) -> io::Result<()> {
        // SAFETY: the list is as long as is said; the caller promises the rest.
        unsafe { self.register(Register::RegisterBuffers, buffers.as_ptr().cast(), buffers.len() as u32) }
    }

    /// How many threads of the kernel at most do the I/Os of this thread that may block (Linux 5.15).
    pub(crate) fn helpers(&self) -> io::Result<u32> {
        let mut limits = [0u32; 2];
        // SAFETY: the kernel reads two numbers, of which 0 changes nothing, and writes those that hold.
        unsafe { self.register(Register::RegisterIowqMaxWorkers, limits.as_mut_ptr().cast(), 2) }?;
        // The second number is that of other files than disks and regular ones.
        Ok(limits[0])
    }

    /// Puts an entry into the ring.
    ///
    /// # Safety
    /// What the entry names stays valid until its completion is taken, and no more entries than the ring was made
    /// for are on their way.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: S) {
        let Submissions { entries, mask, next, .. } = &mut self.submissions;
        // SAFETY: the index is below the number of entries, and the kernel has taken what was there before, because
        // each entry that it has not taken is on its way.
        unsafe { entries.add((*next & *mask) as usize).write(entry) };
        *next = next.wrapping_add(1);
    }

    /// User data of the entries that the next call will show the kernel.
    #[inline]
    pub(crate) fn unseen(&self) -> impl Iterator<Item = u64> {
        let Submissions { entries, mask, next, shown, .. } = self.submissions;
        (0..next.wrapping_sub(shown)).map(move |ahead| {
            let place = shown.wrapping_add(ahead) & mask;
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
        self.submissions.next.wrapping_sub(self.submissions.taken)
    }

    /// Entries that were pushed and whose completions were not taken.
    #[inline]
    pub(crate) fn on_their_way(&self) -> usize {
        self.submissions.next.wrapping_sub(self.completions.next) as usize
    }

    /// Completions that the last [`look`](Self::look) saw and that were not taken.
    #[inline]
    pub(crate) fn to_take(&self) -> usize {
        self.completions.end.wrapping_sub(self.completions.next) as usize
    }

    /// Submits all entries and waits for `wanted` completions.
    ///
    /// A call that was interrupted is repeated. One that the kernel refuses until completions are taken
    /// counts as done: what it left is submitted by the next call. When that goes on while nothing comes back, it is
    /// an error.
    #[inline]
    pub(crate) fn enter(&mut self, wanted: u32) -> io::Result<()> {
        let Some(flags) = self.publish(wanted > 0) else { return Ok(()) };
        loop {
            // SAFETY: every entry is whole, and valid as `push` was promised.
            match unsafe { io_uring_enter(self.descriptor(), self.unsubmitted(), wanted, flags) } {
                Ok(taken) => {
                    // A short submission is completed by the next call, behind what came back.
                    self.note_taken(taken);
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(error @ (Errno::BUSY | Errno::AGAIN)) => return self.refused(error),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Submits all entries and waits for a completion for at most this long; not at all when it is zero.
    pub(crate) fn enter_for(&mut self, time: Duration) -> io::Result<()> {
        let waits = self.timed && !time.is_zero();
        if !waits && !time.is_zero() {
            std::thread::sleep(time.min(NAP));
        }
        let Some(flags) = self.publish(true) else { return Ok(()) };
        let entered = if waits {
            let mut limit =
                Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() };
            let ts = io_uring_ptr::new((&raw mut limit).cast());
            let argument = io_uring_getevents_arg { ts, ..io_uring_getevents_arg::default() };
            // SAFETY: as in `enter`; the argument and the time that it points to live until the call is over.
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
            Ok(taken) => self.note_taken(taken),
            Err(Errno::TIME | Errno::INTR) => {}
            Err(error @ (Errno::BUSY | Errno::AGAIN)) => return self.refused(error),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Whether a call that was refused may be made again.
    #[cold]
    fn refused(&mut self, error: Errno) -> io::Result<()> {
        let counts = [self.submissions.taken, self.completions.next, self.completions.end];
        match &self.refused {
            Some(first) if first.counts == counts && first.at.elapsed() < LONGEST_REFUSAL => {
                std::thread::sleep(NAP);
            }
            Some(first) if first.counts == counts => {
                return Err(io::Error::other(format!(
                    "io_uring_enter failed for {} s and no I/O completed; the kernel lacks memory or another \
                     resource, so stop other programs or use another engine: {error}",
                    LONGEST_REFUSAL.as_secs()
                )));
            }
            _ => self.refused = Some(Refused { at: Instant::now(), counts }),
        }
        Ok(())
    }

    /// Looks which completions are there now. Those that were taken make room for others.
    #[inline]
    pub(crate) fn look(&mut self) {
        let Completions { head, tail, next, end, .. } = &mut self.completions;
        // SAFETY: both counters lie in a mapping that lives as long as this.
        let (head, tail) = unsafe { (head.as_ref(), tail.as_ref()) };
        head.store(*next, Ordering::Release);
        *end = tail.load(Ordering::Acquire);
    }

    /// The next of those that the last [`look`](Self::look) saw.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Done> {
        let Completions { entries, mask, places_shift, next, end, .. } = &mut self.completions;
        if *next == *end {
            return None;
        }
        let place = (*next & *mask) << *places_shift;
        // SAFETY: the index is below the number of entries, and the kernel wrote what is there before its tail.
        let done = unsafe { entries.add(place as usize).read() };
        *next = next.wrapping_add(1);
        Some(done)
    }

    /// Shows the kernel what was pushed; the flags of the call that has to follow, if one has to.
    #[inline]
    fn publish(&mut self, waits: bool) -> Option<Enter> {
        let Submissions { tail, next, shown, taken, .. } = &mut self.submissions;
        *shown = *next;
        // SAFETY: the counter lies in a mapping that lives as long as this.
        unsafe { tail.as_ref() }.store(*next, Ordering::Release);
        let mut flags = if waits { Enter::GETEVENTS } else { Enter::empty() };
        if self.registered.is_some() {
            flags |= Enter::REGISTERED_RING;
        }
        if self.taken_by_kernel {
            *taken = *next;
            if self.submitter_sleeps() {
                flags |= Enter::SQ_WAKEUP;
            } else if !waits {
                return None;
            }
        }
        Some(flags)
    }

    /// None where a thread of the kernel takes them by itself.
    #[inline]
    fn note_taken(&mut self, count: u32) {
        if !self.taken_by_kernel {
            self.submissions.taken = self.submissions.taken.wrapping_add(count);
        }
    }

    /// Whether the thread of the kernel has to be woken up.
    fn submitter_sleeps(&self) -> bool {
        // It says that it sleeps and then looks at the tail again; so the tail has to be out before this looks.
        fence(Ordering::SeqCst);
        // SAFETY: the flags lie in a mapping that lives as long as this.
        let flags = unsafe { self.submissions.flags.as_ref() }.load(Ordering::Relaxed);
        flags & IoringSqFlags::NEED_WAKEUP.bits() != 0
    }

    /// What calls name the ring by.
    #[inline]
    fn descriptor(&self) -> BorrowedFd<'_> {
        match self.registered {
            // SAFETY: not a descriptor but a number that the kernel gave, valid for this ring's life; it goes
            // nowhere but into calls that say so.
            Some(number) => unsafe { BorrowedFd::borrow_raw(number) },
            None => self.file.as_fd(),
        }
    }

    fn register_itself(&self) -> io::Result<RawFd> {
        let mut update = io_uring_rsrc_update::default();
        update.offset = u32::MAX;
        update.data = io_uring_ptr::new(std::ptr::without_provenance_mut(self.file.as_raw_fd() as usize));
        // SAFETY: the kernel reads one update and writes the number that it gave into it.
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
    /// The argument is what the operation wants.
    unsafe fn register(&self, what: Register, argument: *const c_void, count: u32) -> io::Result<()> {
        // SAFETY: the caller's promise is passed on.
        unsafe { io_uring_register(&self.file, what, argument, count) }?;
        Ok(())
    }
}

impl<S: Submission> Drop for Ring<S> {
    fn drop(&mut self) {
        // The kernel takes a closed ring apart some time later, and a device that is held exclusively would
        // stay so until then. Nothing can be done if these fail.
        // SAFETY: this operation has no argument.
        let _ = unsafe { self.register(Register::UnregisterFiles, std::ptr::null(), 0) };
        let _ = self.unregister_itself();
    }
}

/// A new ring with the most that this kernel grants.
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
    // SAFETY: a new ring touches no memory but its own until something is pushed.
    let file = unsafe { io_uring_setup(entries, &mut params) }?;
    Ok((file, params))
}

#[cfg(test)]
mod tests;
