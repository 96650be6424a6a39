//! The loop of a replay. Per I/O, it does not lock or log, and allocates only when a histogram grows.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use record::DataPattern;
use stdx::access::Access;

use super::feed::Feed;
use super::log::{ReplayLog, Started};
use super::terms::{Pace, ReplayOptions, Replayed};
use crate::clock::Clock;
use crate::load::fill::Fill;
use crate::queue::{Completion, Queue, Slot};

/// Longest wait, short enough to respond to a stop request or a late batch.
const LONGEST_WAIT_NS: u64 = 20_000_000;
/// Interval between checks for a late batch.
const LATE_BATCH_NS: u64 = 100_000;
/// Time between the first batch and the first I/O.
const LEAD_NS: u64 = 1_000_000;
/// Maximum number of times that an I/O is resubmitted if the kernel requests a retry.
const MOST_REPEATS: u32 = 10_000;

/// The first failed I/O and the number of all failed I/Os.
pub struct Failed {
    pub access: Access,
    /// 0 for a short transfer.
    pub errno: i32,
    pub transferred_bytes: u32,
    pub count: u64,
}

/// The result of a replay.
pub struct Played {
    pub replayed: Replayed,
    pub failure: Option<Failed>,
    pub queue_error: Option<io::Error>,
}

pub struct Player<'a, Q> {
    clock: Clock,
    queue: Q,
    pace: Pace,
    feed: Feed,
    stop: &'a AtomicBool,
    done: &'a AtomicU64,
    fill: Fill,
    log: ReplayLog,
    free: Vec<Slot>,
    /// For each slot, its I/O and when it started.
    in_flight: Vec<(Access, u64)>,
    /// The last time at which no slot was free: I/Os that were due earlier and have not started had to wait.
    full_until_ns: u64,
    completed: u64,
    repeats: u32,
    failure: Option<Failed>,
}

impl<'a, Q: Queue> Player<'a, Q> {
    pub fn new(
        clock: Clock,
        queue: Q,
        options: &ReplayOptions,
        feed: Feed,
        stop: &'a AtomicBool,
        done: &'a AtomicU64,
    ) -> Self {
        let nothing = Access { read: true, block_bytes: 0, offset_bytes: 0 };
        Self {
            clock,
            queue,
            pace: options.pace,
            feed,
            stop,
            done,
            fill: Fill::new(DataPattern::Random, options.seed, 0),
            log: ReplayLog::new(0),
            free: (0..options.depth).rev().collect(),
            in_flight: vec![(nothing, 0); options.depth.into()],
            full_until_ns: 0,
            completed: 0,
            repeats: 0,
            failure: None,
        }
    }

    /// Plays all I/Os. When this returns, no I/O is in flight unless the queue itself failed.
    pub fn play(mut self) -> Played {
        self.feed.begin();
        let start_ns = self.clock.now_ns() + LEAD_NS;
        self.log = ReplayLog::new(start_ns);
        let queue_error = self.run(start_ns).err();
        let _ = self.queue.retire();
        let replayed = self.log.finish();
        Played { replayed, failure: self.failure, queue_error }
    }

    fn run(&mut self, start_ns: u64) -> io::Result<()> {
        loop {
            let open = self.failure.is_none() && !self.stop.load(Ordering::Relaxed);
            let next_ns = if open { self.submit(start_ns)? } else { u64::MAX };
            let is_idle = self.free.len() == self.in_flight.len();
            if is_idle && (!open || self.feed.is_over()) {
                return Ok(());
            }
            let limit_ns = self.clock.now_ns() + LONGEST_WAIT_NS;
            self.queue.wait_until(next_ns.min(limit_ns))?;
            while let Some(done) = self.queue.reap() {
                self.complete(done);
            }
            self.done.store(self.completed, Ordering::Relaxed);
        }
    }

    /// Starts the I/Os that are due and returns the time of the next check.
    fn submit(&mut self, start_ns: u64) -> io::Result<u64> {
        loop {
            let Some(due) = self.feed.peek() else {
                return Ok(if self.feed.is_over() { u64::MAX } else { self.clock.now_ns() + LATE_BATCH_NS });
            };
            let due_ns = start_ns + due.due_ns;
            let now_ns = self.clock.now_ns();
            if (self.pace == Pace::Open && due_ns > now_ns) || now_ns < start_ns {
                return Ok(due_ns.max(start_ns));
            }
            let Some(slot) = self.free.pop() else { return Ok(u64::MAX) };
            self.feed.advance();
            self.start(slot, due.access, due_ns);
            self.queue.submit_if_apart()?;
        }
    }

    fn start(&mut self, slot: Slot, access: Access, due_ns: u64) {
        if !access.read {
            self.fill.fill(&mut self.queue.buffer(slot)[..access.block_bytes as usize]);
        }
        let now_ns = self.clock.now_ns();
        self.in_flight[usize::from(slot)] = (access, now_ns);
        self.queue.push(slot, access);
        let is_open = self.pace == Pace::Open;
        let start = Started {
            due_ns,
            at_ns: now_ns,
            is_open,
            is_held_back: is_open && due_ns < self.full_until_ns,
            outstanding: self.in_flight.len() - self.free.len(),
        };
        self.log.started(start);
    }

    fn complete(&mut self, done: Completion) {
        let (access, started_ns) = self.in_flight[usize::from(done.slot)];
        if done.result == access.block_bytes.cast_signed() {
            self.log.completed(access, started_ns, done.done_ns);
            self.completed += 1;
            if self.free.is_empty() {
                self.full_until_ns = done.done_ns;
            }
            self.free.push(done.slot);
            return;
        }
        let errno = done.result.min(0).unsigned_abs().cast_signed();
        if matches!(errno, libc::EAGAIN | libc::EINTR) && self.repeats < MOST_REPEATS {
            self.repeats += 1;
            self.queue.push(done.slot, access);
            return;
        }
        let transferred_bytes = done.result.max(0).unsigned_abs();
        let first = Failed { access, errno, transferred_bytes, count: 0 };
        self.failure.get_or_insert(first).count += 1;
        self.free.push(done.slot);
    }
}
