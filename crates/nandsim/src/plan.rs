//! A model at a scale, converted to the integers that the simulator uses.

use crate::hybrid::Granules;
use crate::map::Divisor;
use crate::{Firmware, Model, Scale, VictimPolicy};

/// Superblocks that never hold data for long: the two open ones, and a pool that keeps the collector running. They
/// come on top of the effective over-provisioning.
pub(crate) const RESERVE: u32 = 4;

/// With fewer superblocks than this, write amplification depends on their number. Scaling down reduces the number
/// of superblocks to this limit first, and their size after that.
const LEAST_SUPERBLOCKS: u32 = 1024;

/// Minimum program units per die at any scale: the collector needs room to work.
const LEAST_ROWS: u64 = 64;

/// Times are in ns and sizes in map units, unless the name says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The n of the scale 1/n.
    pub(crate) divisor: u32,
    pub(crate) capacity_bytes: u64,
    pub(crate) logical_block_bytes: u32,
    pub(crate) map_unit_shift: u32,
    pub(crate) map_units: u32,
    /// Map units per program unit as a shift.
    pub(crate) unit_shift: u32,
    pub(crate) dies: u32,
    pub(crate) dies_per_channel: u32,
    pub(crate) by_die: Divisor,
    pub(crate) superblock_slots: u32,
    /// Number of superblocks, not counting the cache.
    pub(crate) superblocks: u32,
    /// Number of superblocks of the cache; they follow the others.
    pub(crate) cache_superblocks: u32,
    /// First slot of the cache.
    pub(crate) cache_start: u32,
    /// Number of superblocks of the cache in use above which it is folded under load.
    pub(crate) fold_from: u32,
    /// Programs outstanding below which the cache is folded under load.
    pub(crate) fold_below: u32,
    pub(crate) cache_sense_ns: u64,
    pub(crate) granules: Granules,
    pub(crate) rated_erases: u32,
    /// Number of oldest superblocks that the collector chooses from; `None` for all.
    pub(crate) victim_window: Option<u32>,
    /// Whether superblocks are emptied in turn, with or without garbage.
    pub(crate) ring: bool,
    /// How many of 65,536 superblocks without garbage are skipped.
    pub(crate) ring_skips: u32,
    /// Number of free superblocks below which the host's writes have to pay for collection.
    pub(crate) collect_below: u32,
    pub(crate) buffer_slots: u32,
    /// Whether the buffer loses its contents on a power loss, and can therefore be disabled.
    pub(crate) volatile_buffer: bool,
    pub(crate) burst: u32,
    /// Bytes of the mapping table written per write command, and bytes per program.
    pub(crate) map_bytes_per_write: u32,
    pub(crate) program_unit_bytes: u32,
    pub(crate) idle_delay_ns: u64,
    pub(crate) idle_free_superblocks: u32,
    pub(crate) read_command_ns: u64,
    pub(crate) write_command_ns: u64,
    pub(crate) map_unit_ns: u64,
    pub(crate) read_latency_ns: u64,
    pub(crate) write_latency_ns: u64,
    pub(crate) modify_ns: u64,
    pub(crate) modify_in_background: bool,
    pub(crate) link_ns_per_64k: u64,
    pub(crate) link_full_duplex: bool,
    pub(crate) purge_ns: u64,
    pub(crate) flash: FlashPlan,
}

/// Timing of dies and channels in ns.
#[derive(Debug, Clone)]
pub(crate) struct FlashPlan {
    pub(crate) sense_ns: u64,
    pub(crate) slot_transfer_ns: u64,
    pub(crate) unit_transfer_ns: u64,
    pub(crate) program_least_ns: u64,
    pub(crate) program_spread_ns: u64,
    /// Program time in the cache, which has no spread.
    pub(crate) cache_program_ns: u64,
    /// Overhead of a read that suspends a program; 0 disables suspension.
    pub(crate) suspend_ns: u64,
    pub(crate) suspends: u32,
    pub(crate) read_ahead: bool,
    pub(crate) dies: u32,
    pub(crate) erase_ns: u64,
    /// Erases per superblock on each die.
    pub(crate) erases: u32,
    pub(crate) held: bool,
}

fn ns(us: f64) -> u64 {
    (us * 1000.0).round() as u64
}

fn window(firmware: &Firmware) -> Option<u32> {
    match firmware.victim_policy {
        VictimPolicy::Greedy => None,
        VictimPolicy::Fifo | VictimPolicy::Ring => Some(1),
        VictimPolicy::Windowed => Some(firmware.victim_window),
    }
}

/// `superblock_bytes` is the size on the unscaled drive that corresponds to one superblock.
fn granules(model: &Model, superblock_bytes: u64) -> Granules {
    let Some(hybrid) = &model.hybrid else { return Granules::default() };
    let geometry = &model.geometry;
    Granules {
        shift: (hybrid.granule_bytes / geometry.map_unit_bytes).trailing_zeros(),
        most_log: (hybrid.log_bytes / superblock_bytes) as u32,
        kept_slots: (65_536.0 * (1.0 + geometry.effective_op_percent / 100.0)).ceil() as u64,
        modify_ns: ns(hybrid.modify_us),
        merge_ns: ns(hybrid.merge_us),
    }
}

/// Slots of the write buffer: at least two rows.
fn buffer_slots(model: &Model, divisor: u64, row: u32, unit_slots: u32) -> u32 {
    let map_unit = model.geometry.map_unit_bytes;
    // A granule is accepted as a whole, while both open program units may be waiting for more slots.
    let granule = model.hybrid.as_ref().map_or(0, |hybrid| hybrid.granule_bytes / map_unit + 2 * unit_slots);
    let buffer = model.firmware.write_buffer_bytes / divisor / u64::from(map_unit);
    (buffer as u32).max(2 * row + granule)
}

impl Plan {
    pub(crate) fn new(model: &Model, scale: Scale) -> Self {
        let (geometry, timing, firmware) = (&model.geometry, &model.timing, &model.firmware);
        let n = u64::from(scale.divisor());
        let map_unit = geometry.map_unit_bytes;
        let unit_slots = geometry.program_unit_bytes / map_unit;
        let dies = u32::from(geometry.channels) * u32::from(geometry.dies_per_channel);
        let row = unit_slots * dies;
        let least = (LEAST_ROWS * u64::from(row) * u64::from(map_unit)).next_multiple_of(1 << 20);
        let capacity_bytes = ((geometry.capacity_bytes / n) >> 20 << 20).max(least);
        let map_units = (capacity_bytes / u64::from(map_unit)) as u32;

        let slots = f64::from(map_units) * (1.0 + geometry.effective_op_percent / 100.0);
        let wanted =
            (geometry.superblocks / scale.divisor()).max(LEAST_SUPERBLOCKS.min(geometry.superblocks));
        let rows = ((slots / f64::from(wanted) / f64::from(row)) as u32).max(1);
        let superblock_slots = rows * row;
        let data_superblocks = (slots / f64::from(superblock_slots)).ceil() as u32;
        let spare = data_superblocks - map_units.div_ceil(superblock_slots);
        let superblocks = data_superblocks + RESERVE;
        let superblock_bytes = u64::from(superblock_slots) * u64::from(map_unit);
        let cache = model.cache.as_ref();
        let cache_superblocks = cache.map_or(0, |c| (c.bytes / n / superblock_bytes).max(2) as u32);
        let ring = firmware.victim_policy == VictimPolicy::Ring;

        Self {
            divisor: scale.divisor(),
            capacity_bytes,
            logical_block_bytes: geometry.logical_block_bytes,
            map_unit_shift: map_unit.trailing_zeros(),
            map_units,
            unit_shift: unit_slots.trailing_zeros(),
            dies,
            dies_per_channel: geometry.dies_per_channel.into(),
            by_die: Divisor::new(dies),
            superblock_slots,
            superblocks,
            cache_superblocks,
            cache_start: if cache_superblocks == 0 { u32::MAX } else { superblocks * superblock_slots },
            fold_from: cache
                .map_or(0, |c| (f64::from(cache_superblocks) * c.fold_from_percent / 100.0) as u32),
            fold_below: cache.map_or(0, |c| c.fold_below_programs),
            cache_sense_ns: cache.map_or(0, |c| ns(c.read_us)),
            granules: granules(model, n * superblock_bytes),
            rated_erases: geometry.rated_erases,
            victim_window: window(firmware),
            ring,
            ring_skips: (firmware.ring_skips_percent * 655.36).round() as u32,
            collect_below: if ring { RESERVE + spare / 2 } else { RESERVE },
            buffer_slots: buffer_slots(model, n, row, unit_slots),
            volatile_buffer: firmware.volatile_buffer,
            burst: firmware.collect_burst_map_units,
            map_bytes_per_write: firmware.map_bytes_per_write.round() as u32,
            program_unit_bytes: geometry.program_unit_bytes,
            idle_delay_ns: ns(firmware.idle_delay_ms * 1000.0) / n,
            idle_free_superblocks: ((f64::from(spare) * firmware.idle_free_percent / 100.0) as u32)
                .max(if ring { RESERVE + spare / 2 } else { 0 }),
            read_command_ns: ns(timing.read_command_us),
            write_command_ns: ns(timing.write_command_us),
            map_unit_ns: ns(timing.map_unit_us),
            read_latency_ns: ns(timing.read_latency_us),
            write_latency_ns: ns(timing.write_latency_us),
            modify_ns: ns(timing.modify_us),
            modify_in_background: timing.modify_in_background,
            link_ns_per_64k: ns(65_536.0 / timing.link_mb_per_s),
            link_full_duplex: timing.link_full_duplex,
            purge_ns: ns(timing.purge_ms * 1000.0) / n,
            flash: FlashPlan::new(model, rows),
        }
    }

    /// Transfer time of `bytes` on the host link in ns.
    #[inline]
    pub(crate) fn link_ns(&self, bytes: u32) -> u64 {
        (u64::from(bytes) * self.link_ns_per_64k) >> 16
    }

    /// Time to sense the page of `slot` in ns.
    #[inline]
    pub(crate) fn sense_ns(&self, slot: u32) -> u64 {
        if slot < self.cache_start { self.flash.sense_ns } else { self.cache_sense_ns }
    }

    #[inline]
    pub(crate) fn die_of(&self, slot: u32) -> usize {
        self.by_die.remainder(slot >> self.unit_shift) as usize
    }
}

impl FlashPlan {
    fn new(model: &Model, rows: u32) -> Self {
        let (geometry, timing) = (&model.geometry, &model.timing);
        let transfer = |bytes: u32| ns(f64::from(bytes) / timing.channel_mb_per_s);
        let spread = timing.program_us * timing.program_spread_percent / 100.0;
        let erase_us = timing.erase_us * f64::from(rows) / f64::from(geometry.program_units_per_erase);
        let erases = (rows / geometry.program_units_per_erase).max(1);
        Self {
            sense_ns: ns(timing.read_us),
            slot_transfer_ns: transfer(geometry.map_unit_bytes),
            unit_transfer_ns: transfer(geometry.program_unit_bytes),
            program_least_ns: ns(timing.program_us - spread),
            program_spread_ns: ns(2.0 * spread),
            cache_program_ns: model.cache.as_ref().map_or(0, |cache| ns(cache.program_us)),
            suspend_ns: ns(timing.program_suspend_us),
            suspends: timing.program_suspends,
            read_ahead: timing.read_ahead,
            dies: u32::from(geometry.channels) * u32::from(geometry.dies_per_channel),
            erase_ns: ns(erase_us / f64::from(erases)),
            erases,
            held: timing.die_held_through_transfer,
        }
    }
}
