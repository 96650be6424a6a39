//! Targets that may block (zram, some stacked devices, some file systems): io_uring passes each of their I/Os
//! to an io-wq worker thread, and the number of workers is limited.
//!
//! I/Os beyond this limit wait inside the kernel, not at the target. One call may therefore wait for several
//! completions while the target stays fully loaded. Waking up for each completion cost more than all the other
//! work per I/O.

use std::io::IoSliceMut;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::event::epoll;
use rustix::io::{Errno, ReadWriteFlags};

/// An offset beyond the end of every target and a multiple of every block size.
const NOWHERE: u64 = 1 << 62;
/// If completions arrive more slowly than this, the engine waits for each of them individually, so that its
/// time stamp is exact.
const QUICK_NS: u64 = 10_000;

/// Returns whether the target may block during submission, in which case io_uring passes its I/Os to io-wq workers.
pub(super) fn may_block(fd: RawFd) -> bool {
    // SAFETY: the target keeps its file open for the whole run.
    let file = unsafe { BorrowedFd::borrow_raw(fd) };
    // The kernel checks the flag before the offset, so nothing is read, whether or not it supports the flag for
    // this file.
    let answer = rustix::io::preadv2(file, &mut [IoSliceMut::new(&mut [0])], NOWHERE, ReadWriteFlags::NOWAIT);
    answer == Err(Errno::OPNOTSUPP) && !can_be_polled(file)
}

/// Returns whether the kernel polls the file for readiness before each I/O; if so, no worker thread is
/// needed. FUSE always reports ready, then blocks.
fn can_be_polled(file: BorrowedFd<'_>) -> bool {
    let watched = epoll::create(epoll::CreateFlags::CLOEXEC)
        .and_then(|watch| epoll::add(watch, file, epoll::EventData::new_u64(0), epoll::EventFlags::empty()));
    watched != Err(Errno::PERM)
}

/// Number of completions for which one call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WaitBatch {
    most: usize,
    quick: bool,
}

impl WaitBatch {
    /// Always wait for one completion.
    pub(super) const ONE: Self = Self { most: 1, quick: false };

    /// Wait for up to `batch` completions, but leave enough of the `depth` I/Os in flight to keep all
    /// `helpers` worker threads busy.
    pub(super) fn of(depth: u32, batch: u32, helpers: u32) -> Self {
        Self { most: depth.saturating_sub(helpers).clamp(1, batch) as usize, quick: false }
    }

    /// Returns the number of completions to wait for, given `in_flight` submitted I/Os.
    #[inline]
    pub(super) fn count(self, in_flight: usize) -> u32 {
        if self.quick { self.most.min(in_flight) as u32 } else { 1 }
    }

    /// Adjusts the batch, given how many completions arrived and how long they took.
    #[inline]
    pub(super) fn learn(&mut self, count: usize, within_ns: u64) {
        self.quick = self.most > 1 && within_ns < QUICK_NS * count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_waited_for_only_while_all_helpers_are_busy_and_quick() {
        let mut wait_batch = WaitBatch::of(32, 4, 8);
        assert_eq!(wait_batch.count(32), 1, "nothing is known yet");
        wait_batch.learn(1, QUICK_NS - 1);
        assert_eq!((wait_batch.count(32), wait_batch.count(3)), (4, 3));
        wait_batch.learn(4, 4 * QUICK_NS);
        assert_eq!(wait_batch.count(32), 1);
        for (depth, helpers, most) in [(10, 8, 2), (8, 8, 1), (4, 8, 1), (1, 1, 1), (128, 8, 4)] {
            let mut wait_batch = WaitBatch::of(depth, 4, helpers);
            wait_batch.learn(1, 0);
            assert_eq!(wait_batch.count(depth as usize), most, "depth {depth}, {helpers} helpers");
        }
    }

    #[test]
    fn targets_that_may_block_are_detected_without_reading() {
        use std::os::fd::AsRawFd as _;
        let may_block = |path| super::may_block(std::fs::File::open(path).expect(path).as_raw_fd());
        assert!(may_block("/proc/self/status"), "kernel files may block their reader");
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
        if (numbers.next(), numbers.next()) >= (Some(5), Some(17)) {
            assert!(!may_block("/dev/zero"), "zeros are available immediately (since Linux 5.17)");
        }
    }
}
