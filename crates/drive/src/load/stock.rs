//! Large writes: their data is made while others are on their way.
//!
//! Filling a megabyte takes a tenth of a millisecond, longer where the processor has other work as well, and for so long
//! the place of an I/O that came back would stay free: the depth sags. So a queue gets some slots more than I/Os may be in
//! flight, and their buffers are filled before they are needed.

use std::collections::VecDeque;

use record::Workload;

use super::content::Content;
use super::worker::{After, Request, Worker};
use crate::queue::{Queue, REFILL_BATCH, REFILL_PART, Slot};

/// Shorter writes are filled in less time than the system call takes that submits each by itself.
const LARGE_BYTES: u32 = 64 << 10;
/// Older kernels register no more buffers.
const MOST_SLOTS: u16 = 1024;

/// Slots beyond the depth that a workload needs.
pub(super) fn spares(workload: &Workload) -> u16 {
    let depth = workload.queue_depth;
    // Where one follows the other, or each begins at its time, the place is free anyway.
    let is_deep = depth > 1 && workload.regime.arrivals.is_none();
    // A large buffer would be filled for a small write.
    let is_even = workload.kinds.is_empty() && workload.block_bytes >= LARGE_BYTES;
    if !(is_deep && is_even && workload.writes()) {
        return 0;
    }
    (REFILL_BATCH as u16).max(depth / REFILL_PART as u16).min(MOST_SLOTS.saturating_sub(depth))
}

/// The idle slots. Data is written in the order in which it was made.
pub(crate) struct Stock {
    filled: VecDeque<Slot>,
    empty: Vec<Slot>,
    /// So many are filled at most.
    most: usize,
}

impl Stock {
    /// That of one worker; none where there is nothing to gain.
    pub(super) fn of(workload: &Workload) -> Option<Self> {
        let spares = spares(workload);
        let slots = workload.queue_depth + spares;
        // One is left for a read.
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
    /// Fills what can be filled.
    pub(crate) fn stock_up(&mut self) {
        if let Some(stock) = &mut self.stock {
            stock.fill(&mut self.queue, &mut self.content);
        }
    }

    /// Keeps so many I/Os in flight, each submitted as soon as there is a place for it.
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

    /// Starts the next I/O, if there is one left.
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
