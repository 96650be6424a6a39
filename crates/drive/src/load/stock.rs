//! Large writes: data is generated while other writes are in flight.
//!
//! Filling a megabyte takes a tenth of a millisecond, longer on a busy CPU, and during that time the slot of
//! a completed I/O would stay free: the queue depth sags. So the queue gets a few more slots than its depth,
//! and their buffers are filled before they are needed.

use std::collections::VecDeque;

use record::Workload;

use super::content::Content;
use super::worker::{After, Request, Worker};
use crate::queue::{Queue, REFILL_BATCH, REFILL_PART, Slot};

/// Filling a shorter write takes less time than the system call that submits it individually.
const LARGE_BYTES: u32 = 64 << 10;
/// Older kernels register at most this many buffers.
const MOST_SLOTS: u16 = 1024;

/// Returns the number of slots that a workload needs beyond its queue depth.
pub(super) fn spares(workload: &Workload) -> u16 {
    let depth = workload.queue_depth;
    // At QD 1 and in an open loop the slot is free anyway.
    let is_deep = depth > 1 && workload.regime.arrivals.is_none();
    // With mixed sizes, a small write would get a buffer filled for a large one.
    let is_even = workload.kinds.is_empty() && workload.block_bytes >= LARGE_BYTES;
    if !(is_deep && is_even && workload.writes()) {
        return 0;
    }
    (REFILL_BATCH as u16).max(depth / REFILL_PART as u16).min(MOST_SLOTS.saturating_sub(depth))
}

/// The idle slots. Data is written in the order in which it was generated.
pub(crate) struct Stock {
    filled: VecDeque<Slot>,
    empty: Vec<Slot>,
    /// Maximum number of filled slots.
    most: usize,
}

impl Stock {
    /// Creates the stock of one worker; `None` if it has no benefit.
    pub(super) fn of(workload: &Workload) -> Option<Self> {
        let spares = spares(workload);
        let slots = workload.queue_depth + spares;
        // Leaves a slot for a read.
        let most = if workload.read_percent == 0 { slots } else { spares };
        (spares > 0).then(|| Self::new(slots, most))
    }

    pub(super) fn new(slots: u16, most: u16) -> Self {
        let filled = VecDeque::with_capacity(most.into());
        Self { filled, empty: (0..slots).rev().collect(), most: most.into() }
    }

    fn next_to_fill(&mut self) -> Option<Slot> {
        if self.filled.len() < self.most { self.empty.pop() } else { None }
    }

    fn fill(&mut self, queue: &mut impl Queue, content: &mut impl Content) {
        while let Some(slot) = self.next_to_fill() {
            content.fresh(queue.buffer(slot));
            self.filled.push_back(slot);
        }
    }
}

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Fills buffers up to the limit.
    pub(crate) fn stock_up(&mut self) {
        if let Some(stock) = &mut self.stock {
            stock.fill(&mut self.queue, &mut self.content);
        }
    }

    /// Keeps the queue at its depth, submitting each I/O as soon as a slot is free.
    #[inline(never)]
    pub(super) fn run_stocked(&mut self, mut stock: Stock) -> std::io::Result<()> {
        let mut requests = std::mem::take(&mut self.requests);
        let mut in_flight = 0u32;
        while in_flight < self.depth.into() && self.issue_from(&mut stock, &mut requests) {
            in_flight += 1;
            self.queue.flush()?;
        }
        while in_flight > 0 {
            if !self.ahead.is_over() {
                stock.fill(&mut self.queue, &mut self.content);
            }
            self.queue.wait()?;
            self.look_at_stop();
            while let Some(done) = self.queue.reap() {
                let request = &mut requests[usize::from(done.slot)];
                let mut after = After::Done;
                if done.result == request.block_bytes().cast_signed() {
                    let request = *request;
                    self.count(request, done);
                } else {
                    after = self.not_done(request, done);
                }
                if after == After::Again {
                    continue;
                }
                stock.empty.push(done.slot);
                if after == After::Done && self.issue_from(&mut stock, &mut requests) {
                    self.queue.flush()?;
                } else {
                    in_flight -= 1;
                }
            }
        }
        Ok(())
    }

    /// Issues the next I/O. Returns false if none is left.
    fn issue_from(&mut self, stock: &mut Stock, requests: &mut [Request]) -> bool {
        let Some((request, _)) = self.next() else { return false };
        let access = request.access();
        let filled = if access.read { None } else { stock.filled.pop_front() };
        let slot = filled.unwrap_or_else(|| stock.empty.pop().expect("more slots than I/Os in flight"));
        if !access.read && filled.is_none() {
            self.content.fresh(self.queue.buffer(slot));
        }
        requests[usize::from(slot)] = request;
        self.push(slot, access);
        true
    }
}

#[cfg(test)]
mod tests;
