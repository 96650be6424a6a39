//! Determines which workloads can be verified.

use record::Workload;

/// Maximum number of blocks whose writes are tracked. Tracking them takes 1 GiB of memory.
const MOST_BLOCKS: u64 = 1 << 28;
/// Minimum ratio of blocks in the range to outstanding I/Os that leaves enough idle blocks to choose from.
const ROOM: u64 = 4;
/// Minimum length of a block.
const LEAST_BYTES: u64 = 512;

/// Why a workload cannot be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unverifiable {
    /// Blocks are too small for a stamp.
    #[error(
        "verify needs blocks of at least 512 B, but the greatest common divisor of all sizes, distances and starts is \
         {block_bytes} B"
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

/// A part of a target in blocks of the size that is stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start_bytes: u64,
    pub(crate) end_bytes: u64,
    pub(crate) block_bytes: u64,
}

impl Extent {
    /// Returns the range of a workload, including the parts between its segments.
    pub(crate) fn of(workload: &Workload) -> Self {
        let (range, block_bytes) = (workload.range, workload.pattern().granule_bytes());
        Self {
            start_bytes: range.start_bytes,
            end_bytes: range.span().end_bytes(),
            block_bytes: match range.segments {
                1 => block_bytes,
                _ => greatest_common_divisor(block_bytes, range.stride_bytes),
            },
        }
    }

    /// Returns the ranges of several workloads, which must not be none.
    pub(crate) fn of_all<'a>(workloads: impl Iterator<Item = &'a Workload>) -> Self {
        workloads.map(Self::of).reduce(Self::joined).expect("at least one workload")
    }

    fn joined(self, other: Self) -> Self {
        let distance = self.start_bytes.abs_diff(other.start_bytes);
        Self {
            start_bytes: self.start_bytes.min(other.start_bytes),
            end_bytes: self.end_bytes.max(other.end_bytes),
            block_bytes: [other.block_bytes, distance]
                .into_iter()
                .fold(self.block_bytes, greatest_common_divisor),
        }
    }

    pub(crate) fn blocks(self) -> u64 {
        (self.end_bytes - self.start_bytes) / self.block_bytes.max(1)
    }

    pub(crate) fn check(self) -> Result<(), Unverifiable> {
        let (block_bytes, blocks) = (self.block_bytes, self.blocks());
        if block_bytes < LEAST_BYTES {
            return Err(Unverifiable::SmallBlocks { block_bytes });
        }
        if blocks > MOST_BLOCKS {
            return Err(Unverifiable::ManyBlocks { blocks });
        }
        Ok(())
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Checks that a workload can be verified, if verification is requested.
///
/// # Errors
/// Explains why the workload cannot be verified.
pub fn check_verifiable(workload: &Workload) -> Result<(), Unverifiable> {
    if !workload.regime.verify {
        return Ok(());
    }
    let extent = Extent::of(workload);
    if !workload.writes() {
        let block_bytes = extent.block_bytes;
        return if block_bytes < LEAST_BYTES {
            Err(Unverifiable::SmallBlocks { block_bytes })
        } else {
            Ok(())
        };
    }
    extent.check()?;
    let block_bytes = extent.block_bytes.max(1);
    let range = workload.range;
    let blocks = u64::from(range.segments) * (range.segment_bytes / block_bytes);
    let blocks = match &workload.sequence {
        Some(sequence) if !sequence.strided => {
            let distinct = sequence.blocks.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
            distinct * (u64::from(workload.block_bytes) / block_bytes)
        }
        _ => blocks,
    };
    let least = u64::from(workload.block_bytes) / block_bytes * u64::from(workload.outstanding()) * ROOM;
    if blocks < least {
        return Err(Unverifiable::FewBlocks { least, blocks });
    }
    Ok(())
}
