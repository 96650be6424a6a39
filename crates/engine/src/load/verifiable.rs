//! Determines which workloads can be verified.

use record::Workload;

/// Maximum number of blocks whose writes are tracked. Tracking them takes 1 GiB of memory.
const MOST_BLOCKS: u64 = 1 << 28;
/// Minimum ratio of blocks in the range to outstanding I/Os that leaves enough idle blocks to choose from.
const ROOM: u64 = 4;

/// Why a workload cannot be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unverifiable {
    /// Several threads or segments would overwrite each other's blocks in an undefined order.
    #[error("verify supports one thread per range; use separate loads for several ranges")]
    SeveralThreads,
    /// Blocks are too small for a stamp.
    #[error(
        "verify needs blocks of at least 512 B, but the greatest common divisor of all sizes is {block_bytes} B"
    )]
    SmallBlocks {
        /// Greatest common divisor of all sizes.
        block_bytes: u64,
    },
    /// The range has too many blocks.
    #[error("verify can track at most {MOST_BLOCKS} blocks, but the range has {blocks}; use a smaller range")]
    ManyBlocks {
        /// Number of blocks.
        blocks: u64,
    },
    /// The range has too few blocks for the I/Os in flight.
    #[error("verify needs a range of at least {least} blocks at this depth; it has {blocks}")]
    FewBlocks {
        /// Minimum number of blocks.
        least: u64,
        /// Number of blocks.
        blocks: u64,
    },
}

/// Checks that a workload can be verified, if verification is requested.
///
/// # Errors
/// Explains why the workload cannot be verified.
pub fn check_verifiable(workload: &Workload) -> Result<(), Unverifiable> {
    if !workload.regime.verify {
        return Ok(());
    }
    let block_bytes = workload.pattern().granule_bytes();
    let blocks = workload.range.segment_bytes / block_bytes.max(1);
    let in_flight = u64::from(workload.block_bytes) / block_bytes.max(1) * u64::from(workload.queue_depth);
    if workload.threads != 1 || workload.range.segments != 1 {
        return Err(Unverifiable::SeveralThreads);
    }
    if block_bytes < 512 {
        return Err(Unverifiable::SmallBlocks { block_bytes });
    }
    if workload.writes() && blocks > MOST_BLOCKS {
        return Err(Unverifiable::ManyBlocks { blocks });
    }
    let least = in_flight * ROOM;
    if workload.writes() && blocks < least {
        return Err(Unverifiable::FewBlocks { least, blocks });
    }
    Ok(())
}
