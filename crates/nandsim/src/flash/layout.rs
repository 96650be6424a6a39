//! How a model's flash is divided into superblocks, program units and slots at a given scale.

use super::divisor::Divisor;
use crate::{Model, Scale};

/// Number of superblocks that never contain data for long: the two open superblocks, and a pool that keeps
/// the collector running. They are not part of the effective over-provisioning.
pub(crate) const RESERVE: u32 = 4;

/// Below this number of superblocks, write amplification depends on their number. Scaling down reduces first the
/// number of superblocks, to this limit, and then their size.
const LEAST_SUPERBLOCKS: u32 = 1024;

/// Minimum number of program units per die at any scale, because the collector needs room to work.
const LEAST_ROWS: u64 = 64;

/// How the flash is divided. A slot holds one map unit, a row is one program unit on each die, and a superblock is
/// one or more rows that are erased as a whole.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    capacity_bytes: u64,
    map_unit_shift: u32,
    map_units: u32,
    /// Slots per program unit, as a shift.
    unit_shift: u32,
    dies: u32,
    by_die: Divisor,
    dies_per_channel: u32,
    superblock_slots: u32,
    /// Number of superblocks outside the SLC cache.
    superblocks: u32,
    /// The superblocks of the SLC cache follow the others.
    cache_superblocks: u32,
    cache_start: u32,
}

impl Layout {
    pub(crate) fn new(model: &Model, scale: Scale) -> Self {
        let geometry = &model.geometry;
        let n = u64::from(scale.divisor());
        let map_unit = geometry.map_unit_bytes;
        let unit_slots = geometry.program_unit_bytes / map_unit;
        let dies = u32::from(geometry.channels) * u32::from(geometry.dies_per_channel);
        let row = unit_slots * dies;
        let least = (LEAST_ROWS * u64::from(row) * u64::from(map_unit)).next_multiple_of(1 << 20);
        let capacity_bytes = ((geometry.capacity_bytes / n) >> 20 << 20).max(least);
        let map_units = (capacity_bytes / u64::from(map_unit)) as u32;

        let slots = f64::from(map_units) * (1.0 + geometry.effective_op_percent / 100.0);
        let target =
            (geometry.superblocks / scale.divisor()).max(LEAST_SUPERBLOCKS.min(geometry.superblocks));
        let rows = ((slots / f64::from(target) / f64::from(row)) as u32).max(1);
        let superblock_slots = rows * row;
        let superblocks = (slots / f64::from(superblock_slots)).ceil() as u32 + RESERVE;
        let superblock_bytes = u64::from(superblock_slots) * u64::from(map_unit);
        let cache = model.cache.as_ref();
        let cache_superblocks = cache.map_or(0, |c| (c.bytes / n / superblock_bytes).max(2) as u32);
        Self {
            capacity_bytes,
            map_unit_shift: map_unit.trailing_zeros(),
            map_units,
            unit_shift: unit_slots.trailing_zeros(),
            dies,
            by_die: Divisor::new(dies),
            dies_per_channel: geometry.dies_per_channel.into(),
            superblock_slots,
            superblocks,
            cache_superblocks,
            cache_start: if cache_superblocks == 0 { u32::MAX } else { superblocks * superblock_slots },
        }
    }

    /// Returns the user capacity, a multiple of 1 MiB.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Returns the bytes per map unit, as a shift.
    #[inline]
    pub(crate) fn map_unit_shift(&self) -> u32 {
        self.map_unit_shift
    }

    /// Returns the number of map units that the host can address.
    pub(crate) fn map_units(&self) -> u32 {
        self.map_units
    }

    /// Slots per program unit, as a shift.
    #[inline]
    pub(crate) fn unit_shift(&self) -> u32 {
        self.unit_shift
    }

    #[inline]
    pub(crate) fn dies(&self) -> u32 {
        self.dies
    }

    pub(super) fn dies_per_channel(&self) -> u32 {
        self.dies_per_channel
    }

    #[inline]
    pub(crate) fn superblock_slots(&self) -> u32 {
        self.superblock_slots
    }

    /// Returns the number of superblocks, excluding those of the cache.
    #[inline]
    pub(crate) fn superblocks(&self) -> u32 {
        self.superblocks
    }

    /// Returns the number of cache superblocks. They follow all other superblocks.
    #[inline]
    pub(crate) fn cache_superblocks(&self) -> u32 {
        self.cache_superblocks
    }

    /// Returns the total number of superblocks.
    pub(crate) fn all_superblocks(&self) -> u32 {
        self.superblocks + self.cache_superblocks
    }

    /// Returns the first slot in the cache; on a drive without a cache, a number above all slots.
    #[inline]
    pub(crate) fn cache_start(&self) -> u32 {
        self.cache_start
    }

    /// Returns the number of slots per row.
    pub(crate) fn row_slots(&self) -> u32 {
        self.dies << self.unit_shift
    }

    /// Returns the number of superblocks in excess of the user capacity and the reserve.
    pub(crate) fn spare_superblocks(&self) -> u32 {
        self.superblocks - RESERVE - self.map_units.div_ceil(self.superblock_slots)
    }

    pub(crate) fn superblock_bytes(&self) -> u64 {
        u64::from(self.superblock_slots) << self.map_unit_shift
    }

    #[inline]
    pub(crate) fn die_of(&self, slot: u32) -> usize {
        self.by_die.remainder(slot >> self.unit_shift) as usize
    }
}
