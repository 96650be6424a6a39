//! Controller and host link times, converted to the integers that the simulator uses.

use crate::timeline::ns;
use crate::{Model, Scale};

/// Times that a command spends outside the flash, in ns unless the name says otherwise.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    /// The divisor n of the scale 1/n.
    pub(super) divisor: u32,
    pub(super) read_command_ns: u64,
    pub(super) write_command_ns: u64,
    pub(super) map_unit_ns: u64,
    pub(super) read_latency_ns: u64,
    pub(super) write_latency_ns: u64,
    link_ns_per_64k: u64,
    pub(super) link_full_duplex: bool,
    pub(super) purge_ns: u64,
    pub(super) idle_delay_ns: u64,
}

impl Timing {
    pub(super) fn new(model: &Model, scale: Scale) -> Self {
        let (timing, n) = (&model.timing, u64::from(scale.divisor()));
        Self {
            divisor: scale.divisor(),
            read_command_ns: ns(timing.read_command_us),
            write_command_ns: ns(timing.write_command_us),
            map_unit_ns: ns(timing.map_unit_us),
            read_latency_ns: ns(timing.read_latency_us),
            write_latency_ns: ns(timing.write_latency_us),
            link_ns_per_64k: ns(65_536.0 / timing.link_mb_per_s),
            link_full_duplex: timing.link_full_duplex,
            purge_ns: ns(timing.purge_ms * 1000.0) / n,
            idle_delay_ns: ns(model.firmware.idle_delay_ms * 1000.0) / n,
        }
    }

    /// Returns the time in ns that it takes to transfer `bytes` over the host link.
    #[inline]
    pub(super) fn link_ns(&self, bytes: u32) -> u64 {
        (u64::from(bytes) * self.link_ns_per_64k) >> 16
    }
}
