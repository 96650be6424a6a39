//! Trims of several ranges: one I/O takes several accesses of the stream.

use std::sync::Arc;

use record::Workload;
use stdx::access::Access;

use super::content::{Checks, Content, Unfilled};
use super::ledger::Ledger;
use super::worker::{Request, Worker};
use crate::queue::stamps::Took;
use crate::queue::{Queue, Slot};

/// No contents, and the number of ranges of each trim.
pub(crate) struct Ranges {
    unfilled: Unfilled,
    count: u16,
}

/// Returns the number of ranges of each trim of a workload; 0 if it has no such trims.
pub(crate) fn ranges_of(workload: &Workload) -> u16 {
    workload.commands.as_ref().map_or(0, |commands| commands.trim_ranges)
}

impl Content for Ranges {
    const HAS_RANGES: bool = true;

    fn new(workload: &Workload, thread: u16, ledger: Option<&Arc<Ledger>>) -> Self {
        Self { unfilled: Unfilled::new(workload, thread, ledger), count: ranges_of(workload) }
    }

    fn admits(&mut self, _: Access) -> bool {
        true
    }

    fn fresh(&mut self, _: &mut [u8]) {}

    fn prepare<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took {
        self.unfilled.prepare(access, slot, queue)
    }

    fn back<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took {
        self.unfilled.back(access, slot, queue)
    }

    fn ranges(&self) -> u16 {
        self.count
    }

    fn checks(self) -> Option<Checks> {
        None
    }
}

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Issues a trim of this range and of those that follow in the stream. It counts as one I/O with the sum of the lengths,
    /// at the offset of its first range.
    #[inline(never)]
    pub(super) fn issue_ranges(&mut self, first: Request, slot: Slot, requests: &mut [Request]) -> Took {
        let (mut request, mut block_bytes) = (first, 0);
        for index in 0..self.content.ranges() {
            let access = request.access();
            self.queue.put_range(slot, index, access);
            block_bytes += access.block_bytes;
            if index + 1 == self.content.ranges() {
                break;
            }
            let Some((next, _)) = self.next() else { break };
            request = next;
        }
        let access = Access { block_bytes, ..first.access() };
        requests[usize::from(slot)] = Request::of(access);
        self.queue.push(slot, access);
        Took::Time
    }
}
