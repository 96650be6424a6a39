//! An io_uring whose three parts are held for its whole life.
//!
//! The crate's own `IoUring` makes them anew for each call, and then a registered ring descriptor is
//! forgotten at once and the tail is published for each entry. Both cost some 200 ns per system call at depth 1.

use std::io;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::time::Duration;

use io_uring::{
    Builder, CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, cqueue, squeue, types,
};

use crate::Polling;

/// A ring of entries of one size, used by the thread that made it.
pub(crate) struct Ring<S: squeue::EntryMarker + 'static, C: cqueue::EntryMarker + 'static> {
    pub(crate) submitter: ManuallyDrop<Submitter<'static>>,
    submission: ManuallyDrop<SubmissionQueue<'static, S>>,
    pub(crate) completion: ManuallyDrop<CompletionQueue<'static, C>>,
    /// Made from a box. The three above point into it, so it is freed behind them.
    ring: NonNull<IoUring<S, C>>,
    /// Entries that the kernel has not taken yet.
    unsubmitted: u32,
    /// A thread of the kernel takes them as soon as they are there.
    taken_by_kernel: bool,
    /// Whether a call can wait for a limited time (Linux 5.11).
    timed: bool,
}

/// `struct io_uring_getevents_arg` of `linux/io_uring.h`.
#[repr(C)]
#[derive(Default)]
struct Argument {
    sigmask: u64,
    sigmask_sz: u32,
    pad: u32,
    ts: u64,
}

/// How often an older kernel is asked.
const NAP: Duration = Duration::from_micros(50);

type Grant<S, C> = fn(&mut Builder<S, C>) -> &mut Builder<S, C>;

/// So long the kernel's thread looks for entries in vain before it goes to sleep.
const SUBMITTER_IDLE_MS: u32 = 100;

impl<S: squeue::EntryMarker + 'static, C: cqueue::EntryMarker + 'static> Ring<S, C> {
    /// Set-up flags from the newest kernel to the oldest; the first that the kernel takes are used.
    const GRANTS: &'static [Grant<S, C>] = &[
        // Linux 6.6: no second array of indices. Linux 6.1: completions are worked off when we ask for them.
        |b| b.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun().setup_no_sqarray(),
        |b| b.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun(),
        // Linux 5.19: completions interrupt nobody.
        |b| b.setup_coop_taskrun(),
        |b| b,
    ];
    /// The same where a thread of the kernel submits, which goes together with fewer of them.
    const SUBMITTING_GRANTS: &'static [Grant<S, C>] = &[
        |b| b.setup_sqpoll(SUBMITTER_IDLE_MS).setup_single_issuer().setup_no_sqarray(),
        |b| b.setup_sqpoll(SUBMITTER_IDLE_MS).setup_single_issuer(),
        |b| b.setup_sqpoll(SUBMITTER_IDLE_MS),
    ];

    /// A ring of at least so many entries. Must be called by the thread that uses it.
    pub(crate) fn new(entries: u32, polling: Polling) -> io::Result<Self> {
        let ring = Self::granted(entries, polling)?;
        // Who polls for completions would do so without looking at the time.
        let timed = ring.params().is_feature_ext_arg() && polling != Polling::Completions;
        let ring = NonNull::from(Box::leak(Box::new(ring)));
        // SAFETY: the pointer comes from a box that is freed in `drop` only, behind everything that borrows it,
        // and nothing but the three parts uses it until then.
        let (mut submitter, submission, completion) = unsafe { &mut *ring.as_ptr() }.split();
        // Saves a file look-up per call; without it everything still works (before Linux 5.18).
        let _ = submitter.register_ring_fd();
        Ok(Self {
            submitter: ManuallyDrop::new(submitter),
            submission: ManuallyDrop::new(submission),
            completion: ManuallyDrop::new(completion),
            ring,
            unsubmitted: 0,
            taken_by_kernel: polling == Polling::Submissions,
            timed,
        })
    }

    /// Puts an entry into the ring.
    ///
    /// # Safety
    /// What the entry names stays valid until its completion is taken.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &S) {
        // SAFETY: the caller's promise is passed on.
        if unsafe { self.submission.push(entry) }.is_err() {
            // What the kernel has taken since the last look is free again.
            self.submission.sync();
            // SAFETY: as above.
            let taken = unsafe { self.submission.push(entry) };
            assert!(taken.is_ok(), "the ring has an entry for every slot");
        }
        self.unsubmitted += 1;
    }

    #[inline]
    pub(crate) fn has_unsubmitted(&self) -> bool {
        self.unsubmitted > 0
    }

    /// Submits all entries and waits for `wanted` completions.
    ///
    /// A call that was interrupted is repeated. One that the kernel refuses until completions are taken
    /// counts as done: what it left is submitted by the next call.
    #[inline]
    pub(crate) fn enter(&mut self, wanted: u32) -> io::Result<()> {
        self.submission.sync();
        let mut flags = if wanted > 0 { EnterFlags::GETEVENTS } else { EnterFlags::empty() };
        if self.taken_by_kernel {
            self.unsubmitted = 0;
            if self.submission.need_wakeup() {
                flags |= EnterFlags::SQ_WAKEUP;
            } else if wanted == 0 {
                return Ok(());
            }
        }
        loop {
            // SAFETY: there is no argument, and the flags are those of a plain call.
            let entered = unsafe {
                self.submitter.enter::<libc::sigset_t>(self.unsubmitted, wanted, flags.bits(), None)
            };
            match entered {
                Ok(taken) => {
                    self.unsubmitted = self.unsubmitted.saturating_sub(taken as u32);
                    // A short submission is completed by the next call, behind what came back.
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN)) => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Submits all entries and waits for a completion for at most this long; not at all when it is zero.
    pub(crate) fn enter_for(&mut self, time: Duration) -> io::Result<()> {
        self.submission.sync();
        let limit = types::Timespec::from(time);
        let argument = Argument { ts: std::ptr::from_ref(&limit) as u64, ..Argument::default() };
        let waits = self.timed && !time.is_zero();
        if !waits && !time.is_zero() {
            std::thread::sleep(time.min(NAP));
        }
        let mut flags = EnterFlags::GETEVENTS;
        if self.taken_by_kernel {
            self.unsubmitted = 0;
            if self.submission.need_wakeup() {
                flags |= EnterFlags::SQ_WAKEUP;
            }
        }
        let entered = if waits {
            let flags = (flags | EnterFlags::EXT_ARG).bits();
            // SAFETY: the argument and the time that it points to live until the call is over.
            unsafe { self.submitter.enter(self.unsubmitted, 1, flags, Some(&argument)) }
        } else {
            // SAFETY: there is no argument, and the flags are those of a plain call.
            unsafe { self.submitter.enter::<libc::sigset_t>(self.unsubmitted, 0, flags.bits(), None) }
        };
        match entered {
            Ok(taken) => self.unsubmitted = self.unsubmitted.saturating_sub(taken as u32),
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => {}
                _ => return Err(error),
            },
        }
        Ok(())
    }

    /// Completions that are there now.
    #[inline]
    pub(crate) fn completed(&mut self) -> usize {
        self.completion.sync();
        self.completion.len()
    }

    fn granted(entries: u32, polling: Polling) -> io::Result<IoUring<S, C>> {
        let mut last = io::Error::from_raw_os_error(libc::EINVAL);
        let grants = if polling == Polling::Submissions { Self::SUBMITTING_GRANTS } else { Self::GRANTS };
        for grant in grants {
            let mut builder = IoUring::<S, C>::builder();
            grant(&mut builder);
            if polling == Polling::Completions {
                builder.setup_iopoll();
            }
            match builder.build(entries) {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => last = error,
                other => return other,
            }
        }
        Err(last)
    }
}

impl<S: squeue::EntryMarker + 'static, C: cqueue::EntryMarker + 'static> Drop for Ring<S, C> {
    fn drop(&mut self) {
        // The kernel takes a closed ring apart some time later, and a device that is held exclusively would
        // stay so until then. Nothing can be done if these fail.
        let _ = self.submitter.unregister_files();
        let _ = self.submitter.unregister_ring_fd();
        // SAFETY: each is dropped once and used no more; the ring that they borrow is freed behind them, from
        // the pointer that its box gave.
        unsafe {
            ManuallyDrop::drop(&mut self.completion);
            ManuallyDrop::drop(&mut self.submission);
            ManuallyDrop::drop(&mut self.submitter);
            drop(Box::from_raw(self.ring.as_ptr()));
        }
    }
}
