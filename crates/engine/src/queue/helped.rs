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
/// Longest time for which one call collects completions.
const LONGEST_NS: u64 = 40_000;
/// One call waits for at most this part of the depth.
const DEPTH_PART: u32 = 4;

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
    most: u32,
    now: u32,
}

impl WaitBatch {
    /// Always wait for one completion.
    pub(super) const ONE: Self = Self { most: 1, now: 1 };

    /// Wait for up to `batch` completions, or for a part of the `depth` I/Os in flight if that is more, but leave enough
    /// of them in flight to keep all `helpers` worker threads busy.
    pub(super) fn of(depth: u32, batch: u32, helpers: u32) -> Self {
        let most = depth.saturating_sub(helpers).clamp(1, batch.max(depth / DEPTH_PART));
        Self { most, now: 1 }
    }

    /// Returns the number of completions to wait for, given `in_flight` submitted I/Os.
    #[inline]
    pub(super) fn count(self, in_flight: usize) -> u32 {
        self.now.min(in_flight as u32)
    }

    /// Returns the number of I/Os to submit at once: as many as one call waits for, so that the same call submits them.
    #[inline]
    pub(super) fn submitted(self) -> u32 {
        self.now
    }

    /// Adjusts the batch, given how many completions arrived and how long they took.
    #[inline]
    pub(super) fn learn(&mut self, count: usize, within_ns: u64) {
        if self.most == 1 {
            return;
        }
        let count = count as u64;
        self.now = match LONGEST_NS * count / within_ns.max(1) {
            _ if within_ns >= QUICK_NS * count => 1,
            fitting => u64::from(self.most).min(fitting) as u32,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_waited_for_only_while_all_helpers_are_busy_and_quick() {
        let mut wait_batch = WaitBatch::of(32, 4, 8);
        assert_eq!((wait_batch.count(32), wait_batch.submitted()), (1, 1), "nothing is known yet");
        wait_batch.learn(1, QUICK_NS - 1);
        assert_eq!((wait_batch.count(32), wait_batch.count(3), wait_batch.submitted()), (4, 3, 4));
        wait_batch.learn(2, QUICK_NS);
        assert_eq!(wait_batch.count(32), 8, "a quarter of the depth, in 40 us");
        wait_batch.learn(8, 50_000);
        assert_eq!(wait_batch.count(32), 6);
        wait_batch.learn(4, 4 * QUICK_NS);
        assert_eq!(wait_batch.count(32), 1);
        wait_batch.learn(0, 0);
        assert_eq!(wait_batch.count(32), 1, "nothing arrived");
        for (depth, helpers, most) in [(10, 8, 2), (8, 8, 1), (4, 8, 1), (1, 1, 1), (128, 8, 32)] {
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
