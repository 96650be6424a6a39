//! Spare buffers for a queue of large writes, filled before they are needed.
//!
//! Filling a megabyte takes a tenth of a millisecond, longer on a busy CPU. During that time, the slot of a
//! completed I/O would stay free and the queue depth would drop, so the queue has a few more slots than its depth.

use std::collections::VecDeque;

use record::Workload;

use super::content::Content;
use crate::queue::{Queue, REFILL_BATCH, REFILL_PART, Slot};

/// Filling a shorter buffer takes less time than the system call that submits it individually.
pub(super) const LARGE_BYTES: u32 = 64 << 10;
/// Maximum number of buffers that can be registered with older kernels.
const MOST_SLOTS: u16 = 1024;

/// Returns the number of slots that a workload needs beyond its queue depth.
pub(super) fn spares(workload: &Workload) -> u16 {
    let depth = workload.queue_depth;
    // At QD 1 and in an open loop, the slot is free anyway. Syncs and pauses have their own loop.
    let is_deep = depth > 1 && workload.regime.arrivals.is_none() && !workload.regime.is_stepped();
    // With mixed block sizes, a small write would get a buffer filled for a large write.
    let is_even = workload.kinds.is_empty() && workload.block_bytes >= LARGE_BYTES;
    if !(is_deep && is_even && workload.writes()) || workload.regime.trims {
        return 0;
    }
    (REFILL_BATCH as u16).max(depth / REFILL_PART as u16).min(MOST_SLOTS.saturating_sub(depth))
}

/// The idle slots of a queue of large writes. Data is written in the order of generation.
pub(crate) struct WriteBuffers {
    pub(super) filled: VecDeque<Slot>,
    pub(super) empty: Vec<Slot>,
    /// Maximum number of filled slots.
    most: usize,
}

impl WriteBuffers {
    /// Creates the write buffers of one worker; `None` if the worker would not benefit.
    pub(super) fn of(workload: &Workload) -> Option<Self> {
        let spares = spares(workload);
        let slots = workload.queue_depth + spares;
        // Leave one slot for a read.
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

    pub(super) fn fill(&mut self, queue: &mut impl Queue, content: &mut impl Content) {
        while let Some(slot) = self.next_to_fill() {
            content.fresh(queue.buffer(slot));
            self.filled.push_back(slot);
        }
    }
}
