//! Health data: the drive's counters and its health log.

use crate::ssd::Ssd;

/// Counters since the drive was created; a purge does not reset them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Health {
    /// Bytes read by the host.
    pub host_read_bytes: u64,
    /// Bytes written by the host.
    pub host_written_bytes: u64,
    /// Bytes programmed into flash for the host, the collector and the mapping table.
    pub nand_written_bytes: u64,
    /// Number of superblock erases.
    pub erases: u64,
    /// Number of power cycles.
    pub power_cycles: u64,
    /// Number of power cycles without a shutdown notification.
    pub unsafe_shutdowns: u64,
    /// Commands that failed because the flash could not be read or written.
    pub media_errors: u64,
}

impl Health {
    /// Write amplification; `None` before the first write.
    #[must_use]
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_written_bytes > 0).then(|| self.nand_written_bytes as f64 / self.host_written_bytes as f64)
    }

    /// The difference to the counters at `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_read_bytes: self.host_read_bytes - earlier.host_read_bytes,
            host_written_bytes: self.host_written_bytes - earlier.host_written_bytes,
            nand_written_bytes: self.nand_written_bytes - earlier.nand_written_bytes,
            erases: self.erases - earlier.erases,
            power_cycles: self.power_cycles - earlier.power_cycles,
            unsafe_shutdowns: self.unsafe_shutdowns - earlier.unsafe_shutdowns,
            media_errors: self.media_errors - earlier.media_errors,
        }
    }
}

/// The health log, in the units of the NVMe SMART log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Smart {
    /// Temperature in degrees Celsius.
    pub temperature_c: i64,
    /// Rated erases used up, in percent; may exceed 100, as the NVMe specification allows.
    pub percentage_used: u64,
    /// Thousands of 512-byte units read by the host, rounded up.
    pub data_units_read: u64,
    /// Thousands of 512-byte units written by the host, rounded up.
    pub data_units_written: u64,
    /// Thousands of 512-byte units programmed into flash, rounded up.
    pub nand_units_written: u64,
    /// Mean erase count of the blocks.
    pub mean_erases: u64,
    /// Lowest erase count of any block.
    pub least_erases: u64,
    /// Highest erase count of any block.
    pub most_erases: u64,
    /// Number of power cycles.
    pub power_cycles: u64,
    /// Number of power cycles without a shutdown notification.
    pub unsafe_shutdowns: u64,
    /// Commands that failed because the flash could not be read or written.
    pub media_errors: u64,
    /// Whether the drive is throttled now, by its temperature or by an injected fault.
    pub throttled: bool,
}

impl Ssd {
    /// Counters since the drive was created.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health
    }

    /// The health log.
    #[must_use]
    pub fn smart(&self) -> Smart {
        let units = |bytes: u64| bytes.div_ceil(512_000);
        let health = &self.health;
        let superblocks = u64::from(self.plan.superblocks + self.plan.cache_superblocks);
        Smart {
            temperature_c: self.thermal.celsius(),
            percentage_used: health.erases * 100 / (superblocks * u64::from(self.plan.rated_erases)),
            data_units_read: units(health.host_read_bytes),
            data_units_written: units(health.host_written_bytes),
            nand_units_written: units(health.nand_written_bytes),
            mean_erases: health.erases / superblocks,
            least_erases: self.wear.iter().min().map_or(0, |&erases| erases.into()),
            most_erases: self.wear.iter().max().map_or(0, |&erases| erases.into()),
            power_cycles: health.power_cycles,
            unsafe_shutdowns: health.unsafe_shutdowns,
            media_errors: health.media_errors,
            throttled: self.thermal.throttled() || self.is_held_back(),
        }
    }
}
