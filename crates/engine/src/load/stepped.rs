//! The loop for closed-loop workloads with syncs or pauses, or in proportion to others. As in fio, operations are issued
//! one at a time until the queue is full, and a pause may follow any of them. Other loads have loops without these
//! decisions.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::content::Content;
use super::pauses::Pauses;
use super::periodic_syncs::PeriodicSyncs;
use super::portion::Share;
use super::worker::{After, Request, Worker};
use super::write_buffers::LARGE_BYTES;
use super::zones::ZoneUse;
use crate::queue::{Queue, REFILL_BATCH, Slot};

/// Longest sleep during a pause, short enough for a stop request to take effect soon.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
/// Time for which a thread without I/Os in flight waits for threads that it is ahead of.
const WAIT_NS: u64 = 20_000;

/// A thread's slots and its progress.
pub(super) struct Steps {
    pub(super) requests: Vec<Request>,
    free: Vec<Slot>,
    /// Operations that were pushed since the last submission.
    unsubmitted: u32,
    /// I/Os without syncs.
    issued: u64,
    completed: u64,
}

impl Steps {
    /// Returns the number of slots that are not free.
    pub(super) fn in_flight(&self, depth: u16) -> usize {
        usize::from(depth) - self.free.len()
    }
}

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Runs until the workload ends. When this returns, every operation has completed, unless the queue itself failed.
    /// Returns the end of the last pause; 0 if there was none.
    pub(crate) fn run_stepped(
        &mut self,
        mut syncs: PeriodicSyncs,
        mut pauses: Option<Pauses>,
        mut share: Option<Share<'_>>,
        mut zones: Option<ZoneUse<'_>>,
    ) -> io::Result<u64> {
        let mut steps = Steps {
            requests: std::mem::take(&mut self.requests),
            free: (0..self.depth).rev().collect(),
            unsubmitted: 0,
            issued: 0,
            completed: 0,
        };
        let (clock, mut paused_until_ns) = (self.clock, 0);
        while !self.ahead.is_over() {
            if let Some(share) = &mut share
                && !share.take()
            {
                self.wait_for_others(&mut steps, share.portion.sleep_ns, zones.as_ref())?;
                continue;
            }
            if !self.step(&mut steps, &mut syncs, zones.as_mut())? {
                break;
            }
            if steps.free.is_empty() {
                self.reap_some(&mut steps, zones.as_ref())?;
            }
            let Some(pauses) = &mut pauses else { continue };
            let begun = pauses.begin(steps.issued, steps.completed, || clock.now_ns());
            if let Some((length_ns, spin_ns)) = begun {
                self.drain(&mut steps, zones.as_ref())?;
                paused_until_ns = self.pause(length_ns, spin_ns);
                pauses.end(paused_until_ns);
            }
        }
        self.drain(&mut steps, zones.as_ref())?;
        Ok(paused_until_ns)
    }

    /// Issues the next operation. Returns false if none is left.
    fn step(
        &mut self,
        steps: &mut Steps,
        syncs: &mut PeriodicSyncs,
        zones: Option<&mut ZoneUse<'_>>,
    ) -> io::Result<bool> {
        let Some(slot) = steps.free.pop() else { return Ok(true) };
        if let Some(sync) = syncs.take_due() {
            self.issue_sync(slot, sync, &mut steps.requests);
        } else {
            let is_issued = match zones {
                Some(zones) => self.issue_to_zone(slot, steps, zones)?,
                None => self.issue(slot, &mut steps.requests).is_some(),
            };
            if !is_issued {
                steps.free.push(slot);
                return Ok(false);
            }
            steps.issued += 1;
            syncs.issued(steps.requests[usize::from(slot)].access());
        }
        steps.unsubmitted += 1;
        // Submit large I/Os at once, because filling the next large buffer would delay them.
        let is_large = steps.requests[usize::from(slot)].block_bytes() >= LARGE_BYTES;
        if steps.unsubmitted >= self.queue.refill_batch().min(REFILL_BATCH) || is_large {
            steps.unsubmitted = 0;
            self.queue.flush()?;
        }
        Ok(true)
    }

    /// Waits for a while, because this thread is ahead of others.
    fn wait_for_others(
        &mut self,
        steps: &mut Steps,
        sleep_ns: u64,
        zones: Option<&ZoneUse<'_>>,
    ) -> io::Result<()> {
        if sleep_ns > 0 {
            self.drain(steps, zones)?;
            self.pause(sleep_ns, 0);
        } else if steps.in_flight(self.depth) > 0 {
            self.reap_some(steps, zones)?;
        } else {
            self.pause(WAIT_NS, 0);
        }
        Ok(())
    }

    fn drain(&mut self, steps: &mut Steps, zones: Option<&ZoneUse<'_>>) -> io::Result<()> {
        while steps.in_flight(self.depth) > 0 {
            self.reap_some(steps, zones)?;
        }
        Ok(())
    }

    /// Waits for at least one completion and handles all that are available.
    pub(super) fn reap_some(&mut self, steps: &mut Steps, zones: Option<&ZoneUse<'_>>) -> io::Result<()> {
        steps.unsubmitted = 0;
        self.queue.wait()?;
        self.look_at_stop();
        while let Some(done) = self.queue.reap() {
            let request = &mut steps.requests[usize::from(done.slot)];
            let is_sync = request.sync().is_some();
            let mut after = After::Done;
            if done.result == request.block_bytes().cast_signed() {
                self.count(*request, done);
            } else {
                after = self.not_done(request, done);
            }
            if after != After::Again {
                if let Some(zones) = zones
                    && !is_sync
                    && zones.ended(request.access(), after == After::Done)
                    && done.done_ns < self.deadline_ns
                    && let Some(tally) = self.recorder.tally(done.done_ns)
                {
                    tally.zone_resets += 1;
                }
                steps.free.push(done.slot);
                steps.completed += u64::from(!is_sync);
            }
        }
        Ok(())
    }

    /// Pauses, at most until the deadline or a stop request. Returns the end of the pause. As in fio, a pause also follows
    /// the last I/O.
    pub(super) fn pause(&mut self, length_ns: u64, spin_ns: u64) -> u64 {
        let start_ns = self.clock.now_ns();
        let end_ns = start_ns.saturating_add(length_ns).min(self.deadline_ns);
        let busy_until_ns = start_ns.saturating_add(spin_ns);
        loop {
            let now_ns = self.clock.now_ns();
            if self.stop.load(Ordering::Relaxed) {
                self.ahead.end();
                return now_ns;
            }
            if now_ns >= end_ns {
                break;
            }
            if now_ns < busy_until_ns {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(Duration::from_nanos(end_ns - now_ns).min(LONGEST_SLEEP));
            }
        }
        if end_ns == self.deadline_ns {
            self.late = true;
            self.ahead.end();
        }
        end_ns
    }
}
