//! Issues I/Os to zones.

use std::io;

use stdx::access::Access;
use stdx::units::SECOND_NS;
use zones::Placed;

use super::ZoneUse;
use crate::load::content::Content;
use crate::load::stepped::Steps;
use crate::load::worker::{Failure, Request, Worker};
use crate::queue::{Queue, Slot};

/// Time for which a thread without I/Os in flight waits for zones that others use.
const WAIT_NS: u64 = 20_000;
/// After this time in which no thread uses any zone, none becomes available, because the zones that may be written belong to
/// workloads that have ended. As in fio, the workload then ends.
const PATIENCE_NS: u64 = SECOND_NS;
/// Number of accesses that are skipped between two looks at the clock.
const SKIPS: u32 = 4096;

/// What became of an access.
enum Outcome {
    Issued,
    /// The next access of the stream takes its place.
    Skipped,
    /// The workload ends.
    Over,
}

impl<Q: Queue, C: Content> Worker<'_, Q, C> {
    /// Issues the next I/O that its zone permits on this slot. Returns false if no I/O is left.
    pub(in crate::load) fn issue_to_zone(
        &mut self,
        slot: Slot,
        steps: &mut Steps,
        zones: &mut ZoneUse<'_>,
    ) -> io::Result<bool> {
        let mut skips = 0u32;
        while let Some((request, _)) = self.next() {
            let access = request.access();
            if !zones.skipping.contains(&access.offset_bytes) {
                match self.try_zones(slot, access, steps, zones)? {
                    Outcome::Issued => {
                        (zones.skipped_bytes, zones.skipping) = (0, 0..0);
                        return Ok(true);
                    }
                    Outcome::Skipped => {}
                    Outcome::Over => {
                        self.ahead.end();
                        return Ok(false);
                    }
                }
            }
            // Skipped bytes are part of the amount, as in fio: a pass ends at the end of the range.
            zones.skipped_bytes = zones.skipped_bytes.saturating_add(access.block_bytes.into());
            skips += 1;
            if zones.has_skipped_everything() || (skips.is_multiple_of(SKIPS) && self.is_over()) {
                self.ahead.end();
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Returns whether a stop was requested or the deadline has passed.
    fn is_over(&mut self) -> bool {
        self.look_at_stop();
        self.late |= self.clock.now_ns() >= self.deadline_ns;
        self.late || self.is_stopped()
    }

    /// Issues an access as soon as its zone permits it.
    fn try_zones(
        &mut self,
        slot: Slot,
        access: Access,
        steps: &mut Steps,
        zones: &mut ZoneUse<'_>,
    ) -> io::Result<Outcome> {
        let (mut seen, mut since_ns) = (None, 0);
        loop {
            match zones.place(access) {
                Placed::Issue(placed) => {
                    self.push_to_zone(slot, placed, steps, zones);
                    return Ok(Outcome::Issued);
                }
                Placed::Reset(placed, zone) => {
                    // Only I/Os to other zones are queued; they need not wait for the reset.
                    self.queue.flush()?;
                    if let Err(error) = zones.reset(zone) {
                        zones.ended(placed, false);
                        self.fail(zone, &error);
                        return Ok(Outcome::Over);
                    }
                    self.push_to_zone(slot, placed, steps, zones);
                    return Ok(Outcome::Issued);
                }
                Placed::Finish(zone) => {
                    self.queue.flush()?;
                    if let Err(error) = zones.finish(zone) {
                        self.fail(zone, &error);
                        return Ok(Outcome::Over);
                    }
                }
                Placed::Skip(until_bytes) => {
                    zones.skipping = access.offset_bytes..until_bytes;
                    return Ok(Outcome::Skipped);
                }
                Placed::Over => return Ok(Outcome::Over),
                Placed::Busy => {
                    // One slot is free for this access.
                    if steps.in_flight(self.depth) > 1 {
                        self.reap_some(steps, Some(zones))?;
                    } else {
                        let (idle, now_ns) = (zones.idle_after(), self.clock.now_ns());
                        if idle.is_none() || idle != seen {
                            (seen, since_ns) = (idle, now_ns);
                        } else if now_ns.saturating_sub(since_ns) >= PATIENCE_NS {
                            return Ok(Outcome::Over);
                        }
                        self.pause(WAIT_NS, 0);
                    }
                    if self.late || self.is_stopped() {
                        return Ok(Outcome::Over);
                    }
                }
            }
        }
    }

    fn push_to_zone(&mut self, slot: Slot, access: Access, steps: &mut Steps, zones: &ZoneUse<'_>) {
        steps.requests[usize::from(slot)] = Request::of(access);
        if !access.read && !zones.job.trims {
            self.content.fresh(&mut self.queue.buffer(slot)[..access.block_bytes as usize]);
        }
        self.push(slot, access);
    }

    /// Ends the run of all workers, because a command for a zone failed.
    fn fail(&mut self, zone: (u64, u64), error: &io::Error) {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        self.end_by(Failure {
            access: Access { read: false, block_bytes: zone.1 as u32, offset_bytes: zone.0 },
            is_sync: false,
            is_of_zone: true,
            at_ns: self.clock.now_ns(),
            errno,
            transferred_bytes: 0,
            counts: Vec::new(),
        });
    }
}

impl ZoneUse<'_> {
    /// Returns whether two passes over the range have issued nothing.
    fn has_skipped_everything(&self) -> bool {
        self.skipped_bytes > self.job.length_bytes.saturating_mul(2)
    }
}
