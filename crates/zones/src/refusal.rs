//! Why a workload with zones cannot run on a target.

use std::io;

use stdx::units::amount_base2;

/// Why a workload with zones cannot run on a target.
#[derive(Debug, thiserror::Error)]
pub enum NotZoned {
    /// The target is a file.
    #[error("the target is not a block device")]
    NotADevice,
    /// The device has no zones.
    #[error("the target is not a zoned block device; omit zonemode=zbd")]
    NoZones,
    /// The kernel cannot be asked.
    #[error("the kernel does not report the zones: {}", record::errno::reason(.0))]
    Unknown(#[source] io::Error),
    /// The kernel's report contradicts itself.
    #[error("the kernel's report of the zones contradicts itself")]
    Contradictory,
    /// I/Os go through the page cache, which does not keep their order.
    #[error("they need direct I/O")]
    Buffered,
    /// The zones have another size.
    #[error("zonesize is {}, but the zones have {}", amount_base2(*.requested_bytes), amount_base2(*.zone_bytes))]
    ZoneSize {
        /// The requested size.
        requested_bytes: u64,
        /// The size.
        zone_bytes: u64,
    },
    /// The range does not consist of whole zones.
    #[error(
        "the range from byte {start_bytes} to {end_bytes} does not consist of whole zones of {zone_bytes} B; give offset and \
         size in zones, such as offset=4z"
    )]
    PartOfAZone {
        /// Start of the range.
        start_bytes: u64,
        /// End of the range.
        end_bytes: u64,
        /// Length of a zone.
        zone_bytes: u64,
    },
    /// The zones are not a multiple of a block size.
    #[error("zones of {zone_bytes} B are not a multiple of blocks of {block_bytes} B")]
    Block {
        /// The block size.
        block_bytes: u32,
        /// Length of a zone.
        zone_bytes: u64,
    },
    /// Several block sizes are not multiples of the smallest.
    #[error(
        "all block sizes must be multiples of the smallest, and {block_bytes} B is not a multiple of {smallest_bytes} B"
    )]
    Sizes {
        /// The block size.
        block_bytes: u32,
        /// The smallest block size.
        smallest_bytes: u32,
    },
    /// A block is larger than the capacity of a zone.
    #[error("a zone holds {capacity_bytes} B, less than a block of {block_bytes} B")]
    Capacity {
        /// The block size.
        block_bytes: u32,
        /// Capacity of the zone.
        capacity_bytes: u64,
    },
    /// A trim does not cover a zone.
    #[error("a trim resets one zone: use bs={zone_bytes}")]
    Trim {
        /// Length of a zone.
        zone_bytes: u64,
    },
    /// Reads and writes are mixed sequentially, or several threads share a sequence.
    #[error("sequential I/O must be either reads or writes, one thread each; use randrw or one job for each")]
    Sequence,
    /// More zones may be written than the device permits.
    #[error("max_open_zones is {requested}, but the device permits {most}")]
    TooManyRequested {
        /// The requested number.
        requested: u32,
        /// Most zones of the device.
        most: u32,
    },
    /// More zones are open already than may be written.
    #[error(
        "{open} zones of the range are open already, more than the {most} that may be; finish or reset some of them"
    )]
    TooManyOpen {
        /// Number of open zones.
        open: usize,
        /// Most zones.
        most: u32,
    },
    /// No zone of the range can be written.
    #[error("no zone of the range can be written")]
    NotWritable,
    /// Another workload ignores the zones.
    #[error("all jobs that write to the target need zonemode=zbd")]
    Mixed,
}
