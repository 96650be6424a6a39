//! The loop for open-loop workloads: I/Os start when they are due, whether or not earlier I/Os have completed.
//!
//! When the queue is full, arrivals wait. This wait is part of the response time, which starts when the I/O
//! was due, not when it was submitted. No arrival is omitted (no coordinated omission). A sync starts
//! right after the write that it follows, if a slot is free.

use std::io;
use std::sync::atomic::Ordering;

use super::content::Content;
use super::periodic_syncs::PeriodicSyncs;
use super::schedule::Schedule;
use super::worker::{After, Worker};
use crate::queue::{Queue, Slot};

/// Longest wait for the next arrival, short enough for a stop request to take effect soon.
const LONGEST_WAIT_NS: u64 = 50_000_000;

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Runs until the workload ends. When this returns, every I/O has completed, unless the queue itself
    /// failed.
    pub(crate) fn run_paced(&mut self, mut schedule: Schedule, mut syncs: PeriodicSyncs) -> io::Result<()> {
        let mut free: Vec<Slot> = (0..self.depth).rev().collect();
        let mut requests = std::mem::take(&mut self.requests);
        let mut due_ns = vec![0; usize::from(self.depth)];
        loop {
            let now_ns = self.clock.now_ns();
            let mut open =
                !self.ahead.is_over() && now_ns < self.deadline_ns && !self.stop.load(Ordering::Relaxed);
            while open && (syncs.is_due() || schedule.due_ns() <= now_ns) {
                let Some(slot) = free.pop() else { break };
                let due = &mut due_ns[usize::from(slot)];
                if let Some(sync) = syncs.take_due() {
                    *due = now_ns;
                    self.issue_sync(slot, sync, &mut requests);
                    continue;
                }
                *due = schedule.take();
                if self.issue(slot, &mut requests).is_some() {
                    syncs.issued(requests[usize::from(slot)].access());
                    self.queue.submit_if_apart()?;
                }
                open = !self.ahead.is_over();
            }
            if !open && free.len() == due_ns.len() {
                return Ok(());
            }
            let next_ns = schedule.due_ns().min(self.deadline_ns).min(now_ns + LONGEST_WAIT_NS);
            let wakes = open && !free.is_empty();
            self.queue.wait_until(if wakes { next_ns } else { u64::MAX })?;
            while let Some(mut done) = self.queue.reap() {
                done.started_ns = due_ns[usize::from(done.slot)];
                let request = requests[usize::from(done.slot)];
                if done.result == request.block_bytes().cast_signed() {
                    self.count(request, done);
                } else if self.not_done(&mut requests[usize::from(done.slot)], done) == After::Again {
                    continue;
                }
                free.push(done.slot);
            }
        }
    }
}
