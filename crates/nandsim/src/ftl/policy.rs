//! The firmware policies that all translation layers share, in the integers that the simulator uses.

use crate::flash::{Layout, RESERVE};
use crate::timeline::ns;
use crate::{Firmware, Model, Scale, VictimPolicy};

/// Times are in ns and sizes in map units, unless the name says otherwise.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    /// Number of oldest superblocks that the collector chooses from; `None` for all.
    pub(super) victim_window: Option<u32>,
    /// Whether superblocks are emptied in turn, with or without garbage.
    pub(super) ring: bool,
    /// Number of superblocks without garbage, out of 65,536, that are skipped.
    pub(super) ring_skips: u32,
    /// Number of free superblocks below which collection slows the host's writes down.
    pub(super) collect_below: u32,
    /// Number of map units that the collector copies at a time.
    pub(super) burst: u32,
    pub(super) idle_free_superblocks: u32,
    pub(super) buffer_slots: u32,
    /// Bytes of the mapping table written per write command.
    pub(super) map_bytes_per_write: u32,
    /// Bytes written per program operation.
    pub(super) program_unit_bytes: u32,
    pub(super) modify_ns: u64,
    pub(super) modify_in_background: bool,
}

fn window(firmware: &Firmware) -> Option<u32> {
    match firmware.victim_policy {
        VictimPolicy::Greedy => None,
        VictimPolicy::Fifo | VictimPolicy::Ring => Some(1),
        VictimPolicy::Windowed => Some(firmware.victim_window),
    }
}

/// Returns the number of write buffer slots: at least two rows.
fn buffer_slots(model: &Model, scale: Scale, layout: &Layout) -> u32 {
    let map_unit = model.geometry.map_unit_bytes;
    // A granule is accepted as a whole, even while both open program units wait for more slots.
    let granule = model
        .hybrid
        .as_ref()
        .map_or(0, |hybrid| hybrid.granule_bytes / map_unit + (2 << layout.unit_shift()));
    let buffer = model.firmware.write_buffer_bytes / u64::from(scale.divisor()) / u64::from(map_unit);
    (buffer as u32).max(2 * layout.row_slots() + granule)
}

impl Policy {
    pub(super) fn new(model: &Model, scale: Scale, layout: &Layout) -> Self {
        let firmware = &model.firmware;
        let ring = firmware.victim_policy == VictimPolicy::Ring;
        let spare = layout.spare_superblocks();
        let pool = if ring { RESERVE + spare / 2 } else { 0 };
        Self {
            victim_window: window(firmware),
            ring,
            ring_skips: (firmware.ring_skips_percent * 655.36).round() as u32,
            collect_below: if ring { pool } else { RESERVE },
            burst: firmware.collect_burst_map_units,
            idle_free_superblocks: ((f64::from(spare) * firmware.idle_free_percent / 100.0) as u32).max(pool),
            buffer_slots: buffer_slots(model, scale, layout),
            map_bytes_per_write: firmware.map_bytes_per_write.round() as u32,
            program_unit_bytes: model.geometry.program_unit_bytes,
            modify_ns: ns(model.timing.modify_us),
            modify_in_background: model.timing.modify_in_background,
        }
    }
}
