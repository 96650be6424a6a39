//! The clock of a real target.

use rustix::time::{ClockId, clock_gettime};
use stdx::units::SECOND_NS;

/// Nanoseconds of `CLOCK_MONOTONIC` since the clock was made. One reading is a call into the vDSO, about 25 ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    base_ns: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { base_ns: monotonic_ns() }
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        monotonic_ns() - self.base_ns
    }
}

#[inline]
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The monotonic clock counts from boot: both parts are positive and fit for 584 years.
    now.tv_sec.cast_unsigned() * SECOND_NS + now.tv_nsec.cast_unsigned()
}
