//! Plans what a replay sends to a target: reads and writes with due times, at offsets within the target.

use stdx::access::Access;

use crate::file::Summary;
use crate::{Io, Op};

/// Largest I/O that is replayed.
const LARGEST_BYTES: u64 = 64 << 20;

/// Common block size of drives and file systems.
const ALIGNMENT: u64 = 4096;

/// How the offsets in a trace are mapped to offsets on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// Offsets stay the same; a trace with offsets beyond the end of the target is refused.
    Refuse,
    /// Offsets beyond the end continue at the start.
    Wrap,
    /// All offsets are multiplied by the same factor, so that the whole target is accessed. Sequential runs break up if the factor is not 1.
    Scale,
}

/// How to replay a trace on a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplayPlan {
    mapping: Mapping,
    capacity_bytes: u64,
    sector_bytes: u64,
    end_bytes: u64,
    speed: f64,
    /// The largest I/O after rounding to sectors.
    pub largest_bytes: u32,
}

/// Why a trace cannot be replayed on a target.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum NoReplay {
    /// The trace has neither reads nor writes.
    #[error("the trace has neither reads nor writes")]
    Nothing,
    /// The trace contains offsets beyond the end of the target.
    #[error(
        "the trace accesses the first {end_bytes} bytes of its volume, but the target has only {capacity_bytes}"
    )]
    TooLong {
        /// The offset after the last byte that the trace accesses.
        end_bytes: u64,
        /// The capacity of the target.
        capacity_bytes: u64,
    },
    /// An I/O is larger than the target, or larger than supported.
    #[error("the largest I/O has {largest_bytes} bytes; at most {most_bytes} can be replayed on this target")]
    TooLarge {
        /// Length of the I/O.
        largest_bytes: u64,
        /// Largest supported length.
        most_bytes: u64,
    },
}

impl ReplayPlan {
    /// Plans the replay of a trace with this summary. A `speed` of 2 halves all times.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be replayed on the target.
    pub fn new(
        summary: &Summary,
        mapping: Mapping,
        capacity_bytes: u64,
        sector_bytes: u32,
        speed: f64,
    ) -> Result<Self, NoReplay> {
        let sector_bytes = u64::from(sector_bytes);
        let largest_bytes = summary.largest_bytes.next_multiple_of(sector_bytes) + sector_bytes;
        let capacity_bytes = capacity_bytes - capacity_bytes % sector_bytes;
        let most_bytes = LARGEST_BYTES.min(capacity_bytes);
        if summary.largest_bytes == 0 {
            return Err(NoReplay::Nothing);
        }
        if summary.largest_bytes > most_bytes || largest_bytes > LARGEST_BYTES + sector_bytes {
            return Err(NoReplay::TooLarge { largest_bytes: summary.largest_bytes, most_bytes });
        }
        let end_bytes = summary.end_bytes;
        if mapping == Mapping::Refuse && end_bytes > capacity_bytes {
            return Err(NoReplay::TooLong { end_bytes, capacity_bytes });
        }
        Ok(Self {
            mapping,
            capacity_bytes,
            sector_bytes,
            end_bytes,
            speed,
            largest_bytes: largest_bytes.min(capacity_bytes) as u32,
        })
    }

    /// Returns the due time of an I/O, and the access to issue; None for operations that are not replayed.
    #[must_use]
    pub fn due(&self, io: &Io) -> Option<(u64, Access)> {
        if !io.op.transfers() || io.length_bytes == 0 {
            return None;
        }
        let offset = match self.mapping {
            Mapping::Refuse => io.offset_bytes,
            Mapping::Wrap => io.offset_bytes % self.capacity_bytes,
            Mapping::Scale => {
                let scaled = u128::from(io.offset_bytes) * u128::from(self.capacity_bytes);
                let offset = (scaled / u128::from(self.end_bytes.max(1))) as u64;
                // Aligned offsets stay aligned, so that no I/O touches more blocks than in the trace.
                let is_aligned = io.offset_bytes.is_multiple_of(ALIGNMENT);
                offset - offset % if is_aligned { ALIGNMENT } else { self.sector_bytes }
            }
        };
        // The whole sectors that contain the I/O, moved back if they would end beyond the target.
        let start = offset - offset % self.sector_bytes;
        let end = (offset + u64::from(io.length_bytes)).next_multiple_of(self.sector_bytes);
        let length = (end - start).min(self.largest_bytes.into());
        let offset_bytes = start.min(self.capacity_bytes - length);
        let access = Access { read: io.op == Op::Read, block_bytes: length as u32, offset_bytes };
        Some(((io.issue_ns as f64 / self.speed).round() as u64, access))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn io(offset_bytes: u64, length_bytes: u32) -> Io {
        Io { issue_ns: 3_000, response_ns: None, offset_bytes, length_bytes, op: Op::Write }
    }

    fn of(ios: &[Io], mapping: Mapping, capacity: u64, sector: u32) -> Result<ReplayPlan, NoReplay> {
        let summary = Summary {
            end_bytes: ios.iter().map(Io::end_bytes).max().unwrap_or(0),
            largest_bytes: ios.iter().map(|io| u64::from(io.length_bytes)).max().unwrap_or(0),
            ..Summary::default()
        };
        ReplayPlan::new(&summary, mapping, capacity, sector, 2.0)
    }

    #[test]
    fn offsets_are_kept_wrapped_or_scaled() {
        let ios = [io(4096, 4096), io(1 << 20, 4096)];
        let due = |mapping| {
            let plan = of(&ios, mapping, 1 << 20, 512).expect("it fits");
            ios.map(|io| plan.due(&io).map(|(due_ns, access)| (due_ns, access.offset_bytes)))
        };
        assert!(matches!(of(&ios, Mapping::Refuse, 1 << 20, 512), Err(NoReplay::TooLong { .. })));
        assert_eq!(due(Mapping::Wrap), [Some((1500, 4096)), Some((1500, 0))]);
        assert_eq!(due(Mapping::Scale), [Some((1500, 0)), Some((1500, 255 * 4096))]);
        assert_eq!(
            of(&ios, Mapping::Wrap, 1 << 20, 512).expect("fits").due(&Io { op: Op::Flush, ..ios[0] }),
            None
        );
    }

    proptest! {
        #[test]
        fn every_io_fits_the_target(
            ios in prop::collection::vec((0u64..1 << 50, 1u32..1 << 22), 1..20),
            capacity in 1u64 << 23..1 << 45,
            sector in prop::sample::select(vec![512u32, 4096]),
            scales: bool,
        ) {
            let ios: Vec<Io> = ios.into_iter().map(|(offset, length)| io(offset, length)).collect();
            let mapping = if scales { Mapping::Scale } else { Mapping::Wrap };
            let plan = of(&ios, mapping, capacity, sector).expect("these mappings fit");
            for io in &ios {
                let (_, access) = plan.due(io).expect("a write");
                let length = u64::from(access.block_bytes);
                prop_assert!(access.offset_bytes + length <= capacity);
                prop_assert!(access.block_bytes <= plan.largest_bytes && length > 0);
                prop_assert!(access.offset_bytes.is_multiple_of(sector.into()) && length.is_multiple_of(sector.into()));
            }
        }
    }
}
