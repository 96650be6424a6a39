//! Admin operations: purge, format, sanitize and TRIM; and idle time.

use super::state::Ssd;
use crate::Defects;
use crate::link::Link;

/// Each purge ends at a multiple of this time, so that a workload takes exactly the same time after any
/// purge.
const PURGE_GRID_NS: u64 = 1 << 30;

impl<D: Defects> Ssd<D> {
    /// Advances virtual time by `ns`; after the model's idle delay, the collector works ahead.
    pub fn idle(&mut self, ns: u64) {
        let (now_ns, end) = (self.now_ns(), self.now_ns() + ns);
        let ahead_from = (now_ns + self.timing.idle_delay_ns).min(end);
        self.finish_until(ahead_from);
        self.set_now(ahead_from);
        while self.now_ns() < end {
            self.ftl.work_ahead();
            if !self.finish_next(end) {
                break;
            }
        }
        self.set_now(end);
        self.update_temperature();
    }

    /// Erases everything. Resets the drive to its new state, except for its clock and counters.
    ///
    /// Commands in flight complete first. The clock then advances to a multiple of 2^30 ns, so that the same
    /// loads take the same time after every purge.
    pub fn purge(&mut self) {
        self.renew(self.timing.purge_ns);
    }

    /// Erases every block, as a drive's sanitize operation does; takes as long as these erases.
    ///
    /// Leaves the drive in the same state as [`purge`](Self::purge).
    pub fn sanitize(&mut self) {
        self.renew(self.ftl.erase_all_ns());
    }

    /// Unmaps all data and leaves the erasing to the collector.
    pub fn format(&mut self) {
        self.settle();
        self.trim(0, self.capacity_bytes());
    }

    /// Unmaps the map units completely within the `len_bytes` that begin at `start_bytes`; takes no time.
    ///
    /// Ignores any part beyond the capacity.
    pub fn trim(&mut self, start_bytes: u64, len_bytes: u64) {
        let shift = self.ftl.layout().map_unit_shift();
        let end = start_bytes.saturating_add(len_bytes).min(self.capacity_bytes()) >> shift;
        for unit in start_bytes.div_ceil(1 << shift)..end {
            self.ftl.unmap(unit as u32);
        }
    }

    fn renew(&mut self, takes_ns: u64) {
        self.settle();
        self.set_now((self.now_ns() + takes_ns).next_multiple_of(PURGE_GRID_NS));
        self.ftl.renew(self.seed);
        let link = Link::new(self.timing.link_ns(4096));
        (self.link_up, self.link_down) = (link.clone(), link);
        self.update_temperature();
    }
}
