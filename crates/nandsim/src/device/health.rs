//! Health data: the drive's counters and its health log.

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
    /// Returns the write amplification; `None` before the first write.
    #[must_use]
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_written_bytes > 0).then(|| self.nand_written_bytes as f64 / self.host_written_bytes as f64)
    }

    /// Returns the increase of each counter since `earlier`.
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
    /// Percentage of the rated erases that has been used; may exceed 100, as the NVMe specification allows.
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
    /// Whether the drive is throttled now, because of its temperature or an injected fault.
    pub throttled: bool,
}
