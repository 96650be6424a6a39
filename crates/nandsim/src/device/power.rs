//! Power and whatever else determines whether data in the write buffer survives: faults and the write cache.
//!
//! Data that exists only in a volatile write buffer is lost; everything else survives. The simulator keeps no
//! older versions of lost data: affected map units read as if they had never been written. The collector
//! never loses data, because it erases a source only after its data has been copied.

use super::state::Ssd;
use crate::{Cause, Defects, Faults, FoundData};

/// Time from a power loss to the first command, at scale 1.
const POWER_CYCLE_NS: u64 = 2_000_000_000;

impl<D: Defects> Ssd<D> {
    /// Replaces the injected faults with `faults`; [`Faults::default`] removes all faults. If one of them will
    /// cut power to a drive with a volatile buffer, flushes the buffer first.
    pub fn inject_faults(&mut self, faults: Faults) {
        let disappears = faults.removed_at_ns.is_some() || !faults.power_lost_at_ns.is_empty();
        let loses = self.volatile_buffer && disappears;
        if loses && self.ftl.buffer_used() > 0 {
            self.empty_buffer();
        }
        self.ftl.track_unprogrammed(loses);
        self.faults.inject(faults);
        self.update_inspection();
    }

    /// From now on, checks whether reads return the written data. The drive stores no data; it computes where its
    /// faults change the data.
    pub fn expect_data(&mut self) {
        self.faults.expect_data();
    }

    /// Returns the reads with changed data since [`expect_data`](Self::expect_data) or the last call.
    pub fn found_data(&mut self) -> FoundData {
        self.faults.found_data()
    }

    /// Enables or disables all faults without discarding them.
    pub fn set_faulty(&mut self, faulty: bool) {
        self.faults.enable(faulty);
        self.update_inspection();
    }

    /// Turns the drive off and on again. A drive that was removed or lost power becomes available again.
    ///
    /// When the drive comes back, all accepted data is on flash; partial program units are padded. However, if
    /// the drive had been removed or had lost power, the contents of a volatile buffer are lost. Afterwards,
    /// the write cache is on.
    pub fn power_cycle(&mut self) {
        self.counters.power_cycles += 1;
        if self.faults.restore_power(self.now_ns()) {
            self.counters.unsafe_shutdowns += 1;
            self.ftl.lose_buffer();
        }
        self.empty_buffer();
        self.ftl.set_write_through(false);
        self.set_now(self.now_ns() + POWER_CYCLE_NS / u64::from(self.timing.divisor));
        self.update_temperature();
    }

    /// Returns whether the drive has lost power and has not been power-cycled since.
    #[must_use]
    pub fn has_lost_power(&self) -> bool {
        self.is_gone() && self.faults.gone_cause() == Cause::Power
    }

    /// Returns whether the volatile write cache is on; `None` for a drive with a non-volatile buffer, where
    /// writes always complete from the buffer.
    #[must_use]
    pub fn write_cache(&self) -> Option<bool> {
        self.volatile_buffer.then_some(!self.ftl.is_write_through())
    }

    /// Enables or disables the volatile write cache, after flushing it. Returns false if the drive has no
    /// volatile write cache.
    pub fn set_write_cache(&mut self, on: bool) -> bool {
        let Some(is_on) = self.write_cache() else { return false };
        if is_on != on {
            self.empty_buffer();
            self.ftl.set_write_through(!on);
        }
        true
    }
}
