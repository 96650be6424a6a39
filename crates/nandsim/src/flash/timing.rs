//! Flash operation times, converted to the integers that the simulator uses.

use super::layout::Layout;
use crate::Model;
use crate::timeline::ns;

/// Timing of dies and channels in ns.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    pub(super) sense_ns: u64,
    pub(super) slot_transfer_ns: u64,
    pub(super) unit_transfer_ns: u64,
    pub(super) program_least_ns: u64,
    pub(super) program_spread_ns: u64,
    /// The first slot of the cache.
    pub(super) cache_start: u32,
    pub(super) cache_sense_ns: u64,
    /// Program time in the cache, where it does not vary.
    pub(super) cache_program_ns: u64,
    /// Overhead of a read that suspends a program operation; 0 disables suspension.
    pub(super) suspend_ns: u64,
    pub(super) suspends: u32,
    pub(super) read_ahead: bool,
    pub(super) dies: u32,
    pub(super) erase_ns: u64,
    /// Number of erases per superblock on each die.
    pub(super) erases: u32,
    /// Whether a die is busy until its data has been transferred.
    pub(super) held: bool,
}

impl Timing {
    pub(super) fn new(model: &Model, layout: &Layout) -> Self {
        let (geometry, timing) = (&model.geometry, &model.timing);
        let rows = layout.superblock_slots() / layout.row_slots();
        let transfer = |bytes: u32| ns(f64::from(bytes) / timing.channel_mb_per_s);
        let spread = timing.program_us * timing.program_spread_percent / 100.0;
        let erase_us = timing.erase_us * f64::from(rows) / f64::from(geometry.program_units_per_erase);
        let erases = (rows / geometry.program_units_per_erase).max(1);
        let cache = model.cache.as_ref();
        Self {
            sense_ns: ns(timing.read_us),
            slot_transfer_ns: transfer(geometry.map_unit_bytes),
            unit_transfer_ns: transfer(geometry.program_unit_bytes),
            program_least_ns: ns(timing.program_us - spread),
            program_spread_ns: ns(2.0 * spread),
            cache_start: layout.cache_start(),
            cache_sense_ns: cache.map_or(0, |cache| ns(cache.read_us)),
            cache_program_ns: cache.map_or(0, |cache| ns(cache.program_us)),
            suspend_ns: ns(timing.program_suspend_us),
            suspends: timing.program_suspends,
            read_ahead: timing.read_ahead,
            dies: layout.dies(),
            erase_ns: ns(erase_us / f64::from(erases)),
            erases,
            held: timing.die_held_through_transfer,
        }
    }
}
