//! Admin operations: purge, format, sanitize, TRIM and power cycling.

use std::collections::VecDeque;

use crate::cache::Cache;
use crate::events::{Events, NEVER};
use crate::faults::Cause;
use crate::flash::Flash;
use crate::hybrid::Log;
use crate::link::Link;
use crate::ssd::{Ssd, SuperblockState};
use crate::write::Open;

/// Purges end on a multiple of this, so that the same workload after any purge repeats to the nanosecond.
const PURGE_GRID_NS: u64 = 1 << 30;
/// Time from a power loss to the first command, at scale 1.
const POWER_CYCLE_NS: u64 = 2_000_000_000;

impl Ssd {
    /// Erases everything. The drive is like new, except for its clock and its counters.
    ///
    /// Commands in flight complete first. The clock then advances to a multiple of 2^30 ns, so that the same loads
    /// take the same time after any two purges.
    pub fn purge(&mut self) {
        self.renew(self.plan.purge_ns);
    }

    /// Erases every block, as a drive's sanitize command does; takes as long as the erases.
    ///
    /// Leaves the drive in the same state as [`purge`](Self::purge).
    pub fn sanitize(&mut self) {
        let superblocks = u64::from(self.plan.superblocks + self.plan.cache_superblocks);
        let flash = &self.plan.flash;
        self.renew(superblocks * u64::from(flash.erases) * flash.erase_ns);
    }

    /// Discards all data without erasing it; the collector has to erase it later.
    pub fn format(&mut self) {
        self.settle();
        self.trim(0, self.plan.capacity_bytes);
    }

    /// Unmaps the map units that lie entirely within `len_bytes` from `start_bytes`; takes no time.
    ///
    /// Ignores any part beyond the capacity.
    pub fn trim(&mut self, start_bytes: u64, len_bytes: u64) {
        let shift = self.plan.map_unit_shift;
        let end = start_bytes.saturating_add(len_bytes).min(self.plan.capacity_bytes) >> shift;
        for unit in start_bytes.div_ceil(1 << shift)..end {
            #[cfg(test)]
            if self.errs(crate::check::canary::Bug::ForgetsGarbage, unit) {
                self.map.l2p[unit as usize] = crate::map::NONE;
            }
            self.map.unmap(unit as u32);
        }
    }

    /// Number of map units that hold data.
    #[must_use]
    pub fn mapped_units(&self) -> u32 {
        self.map.mapped
    }

    /// Turns the drive off and on again. A drive that was removed or lost its power comes back.
    ///
    /// Accepted data is on the flash when the drive returns; a partial program unit is padded. After a removal or
    /// a loss of power, however, the contents of a volatile buffer are lost. The write cache is on afterwards.
    pub fn power_cycle(&mut self) {
        self.health.power_cycles += 1;
        if self.restore_power() {
            self.health.unsafe_shutdowns += 1;
            self.lose_buffer();
        }
        self.empty_buffer();
        self.through = None;
        self.now_ns += POWER_CYCLE_NS / u64::from(self.plan.divisor);
        self.warm_up();
    }

    /// Whether the drive was removed or lost its power and was not power-cycled since.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.gone_ns().is_some_and(|at| at <= self.now_ns)
    }

    /// Whether the drive lost its power and was not power-cycled since.
    #[must_use]
    pub fn has_lost_power(&self) -> bool {
        self.is_gone() && self.gone_cause() == Cause::Power
    }

    /// Waits until all accepted data is on the flash.
    pub(crate) fn empty_buffer(&mut self) {
        self.settle();
        self.flush_host_unit();
        self.flush_log_unit();
        self.settle();
    }

    /// Waits for all operations in progress.
    fn settle(&mut self) {
        self.drain_until(NEVER);
        let busy = (0..self.plan.dies as usize).map(|die| self.flash.free_ns(die)).max().unwrap_or(0);
        self.now_ns = self.now_ns.max(busy).max(self.controller_free_ns).max(self.log.busy_ns);
    }

    fn renew(&mut self, takes_ns: u64) {
        self.settle();
        self.now_ns = (self.now_ns + takes_ns).next_multiple_of(PURGE_GRID_NS);
        self.health.erases += u64::from(self.plan.superblocks + self.plan.cache_superblocks);

        self.map.clear();
        let (own, cached) = self.states.split_at_mut(self.plan.superblocks as usize);
        own.fill(SuperblockState::Free);
        cached.fill(SuperblockState::CacheFree);
        self.free = (0..self.plan.superblocks).collect();
        self.sealed = VecDeque::new();
        self.cache = Cache::new(&self.plan);
        self.log = Log::default();
        self.wear.iter_mut().for_each(|erases| *erases += 1);
        (self.host, self.copies) = (Open::default(), Open::default());
        (self.victim, self.owed, self.ring_saved, self.buffer_used) = (None, 0, 0, 0);
        self.table = (0, 0);
        self.flash = Flash::new(&self.plan, self.seed);
        self.events = Events::new(self.plan.dies as usize, 0);
        let link = Link::new(self.plan.link_ns(4096));
        (self.link_up, self.link_down) = (link.clone(), link);
        self.warm_up();
    }
}
