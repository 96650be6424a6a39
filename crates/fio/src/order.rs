//! The options that prescribe the order of the blocks.

/// The order of a job's random I/Os.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order {
    /// The block numbers, if requested.
    pub(crate) blocks: Option<Vec<u32>>,
    pub(crate) is_strided: bool,
}

/// The options of `sprandom`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sprandom {
    pub(crate) is_on: bool,
    /// Number of regions.
    pub(crate) regions: u32,
    /// Over-provisioning in thousandths.
    pub(crate) spare_milli: u32,
    /// Size of the drive's cache; 0 if blocks may be written again while they are in the cache.
    pub(crate) cache_bytes: u64,
}

impl Default for Sprandom {
    /// fio's defaults.
    fn default() -> Self {
        Self { is_on: false, regions: 100, spare_milli: 150, cache_bytes: 0 }
    }
}
