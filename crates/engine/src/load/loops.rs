//! The I/O loop of one thread: keeps the queue full and records completions.
//!
//! Between start and end, the thread does not allocate, lock, log or branch on configuration, and makes only
//! the system calls of its queue.

use super::content::Content;
use super::worker::{After, Worker};
use crate::queue::stamps::Took;
use crate::queue::{Queue, REFILL_BATCH};

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Runs until the workload ends. When this returns, every I/O has completed, unless the queue itself
    /// failed.
    pub(crate) fn run(&mut self) -> std::io::Result<()> {
        match self.write_buffers.take() {
            Some(buffers) => self.run_large_writes(buffers),
            None if self.depth == 1 => self.run_single(),
            None => self.run_deep(),
        }
    }

    /// Performs one I/O after another. If no step between two I/Os takes time, the end of the first is the start of
    /// the second.
    fn run_single(&mut self) -> std::io::Result<()> {
        let mut requests = std::mem::take(&mut self.requests);
        let mut again = self.issue(0, &mut requests).is_some();
        while again {
            self.queue.wait()?;
            let Some(done) = self.queue.reap() else { continue };
            self.look_at_stop();
            let request = requests[0];
            if done.result != request.block_bytes().cast_signed() {
                again = match self.not_done(&mut requests[0], done) {
                    After::Again => true,
                    After::Done => self.issue(0, &mut requests).is_some(),
                    After::Failed => false,
                };
                continue;
            }
            let noted = self.count(request, done);
            let issued = self.issue(0, &mut requests);
            again = issued.is_some();
            if issued.is_some_and(|issued| noted.and(issued) == Took::NoTime) {
                self.queue.stamps().carry(done.done_ns);
            }
        }
        Ok(())
    }

    /// Keeps the queue at its depth. Between completion and resubmission of a slot, all other completions in
    /// the batch are processed, so each submission has its own time stamp.
    fn run_deep(&mut self) -> std::io::Result<()> {
        let mut requests = std::mem::take(&mut self.requests);
        let first_batch = self.queue.refill_batch().min(REFILL_BATCH);
        let mut in_flight = 0u32;
        for slot in 0..self.depth {
            if self.issue(slot, &mut requests).is_none() {
                break;
            }
            in_flight += 1;
            if in_flight.is_multiple_of(first_batch) {
                self.queue.flush()?;
            }
        }
        while in_flight > 0 {
            self.queue.wait()?;
            self.look_at_stop();
            let refill_batch = self.queue.refill_batch();
            let mut to_refill = refill_batch;
            while let Some(done) = self.queue.reap() {
                let request = requests[usize::from(done.slot)];
                let again = if done.result == request.block_bytes().cast_signed() {
                    self.count(request, done);
                    self.issue(done.slot, &mut requests).is_some()
                } else {
                    match self.not_done(&mut requests[usize::from(done.slot)], done) {
                        After::Again => true,
                        After::Done => self.issue(done.slot, &mut requests).is_some(),
                        After::Failed => false,
                    }
                };
                if !again {
                    in_flight -= 1;
                    continue;
                }
                to_refill -= 1;
                if to_refill == 0 {
                    self.queue.refill()?;
                    to_refill = refill_batch;
                }
            }
        }
        Ok(())
    }
}
