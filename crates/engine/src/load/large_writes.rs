//! The loop for large writes: data is generated while other writes are in flight.

use super::content::Content;
use super::worker::{After, Request, Worker};
use super::write_buffers::WriteBuffers;
use crate::queue::Queue;

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Fills free buffers up to the limit.
    pub(crate) fn fill_write_buffers(&mut self) {
        if let Some(buffers) = &mut self.write_buffers {
            buffers.fill(&mut self.queue, &mut self.content);
        }
    }

    /// Keeps the queue at its depth, submitting each I/O as soon as a slot is free.
    #[inline(never)]
    pub(super) fn run_large_writes(&mut self, mut buffers: WriteBuffers) -> std::io::Result<()> {
        let mut requests = std::mem::take(&mut self.requests);
        let mut in_flight = 0u32;
        while in_flight < self.depth.into() && self.issue_from(&mut buffers, &mut requests) {
            in_flight += 1;
            self.queue.flush()?;
        }
        while in_flight > 0 {
            if !self.ahead.is_over() {
                buffers.fill(&mut self.queue, &mut self.content);
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
                buffers.empty.push(done.slot);
                if after == After::Done && self.issue_from(&mut buffers, &mut requests) {
                    self.queue.flush()?;
                } else {
                    in_flight -= 1;
                }
            }
        }
        Ok(())
    }

    /// Issues the next I/O. Returns false if no I/O is left.
    fn issue_from(&mut self, buffers: &mut WriteBuffers, requests: &mut [Request]) -> bool {
        let Some((request, _)) = self.next() else { return false };
        let access = request.access();
        let filled = if access.read { None } else { buffers.filled.pop_front() };
        let slot = filled.unwrap_or_else(|| {
            buffers.empty.pop().expect(
                "there are more slots than I/Os in \
            flight",
            )
        });
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
