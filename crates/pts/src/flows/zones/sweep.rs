//! The definition of a zone test, and a target's zones.

use record::{Access, Range, Workload};
use stdx::units::{amount_base2, block_size};

use crate::method::profile::{Cell, Demand};
use crate::{Context, Stop, Test};

/// Number of zones.
pub(crate) const ZONES: u32 = 128;
/// Zone lengths are multiples of this length.
const ZONE_ALIGNMENT_BYTES: u64 = 4096;

/// Definition of a zone test.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub test: &'static Test,
    pub figure: Figure,
    /// The cells measured in each zone, by pass over all zones.
    pub passes: &'static [&'static [Cell]],
    pub recommended: Option<Demand>,
    pub outline: &'static str,
    pub purpose: &'static str,
}

/// The figure reported for a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// IOPS of random I/O.
    Iops,
    /// Throughput of sequential I/O in MB/s.
    Throughput,
}

impl Sweep {
    pub fn demand(&self, context: &Context<'_>) -> Demand {
        context.demand(self.recommended)
    }

    pub fn access(&self) -> Access {
        match self.figure {
            Figure::Iops => Access::Random,
            Figure::Throughput => Access::Sequential,
        }
    }

    /// Workload of one cell; `place` gives the round and the step in it.
    pub fn workload(&self, context: &Context<'_>, place: (u32, u32), zone: u32, cell: Cell) -> Workload {
        Workload {
            access: self.access(),
            range: zone_of(context, zone),
            ..context.cell_at(self.demand(context), place.0, place.1, cell)
        }
    }

    /// Name of a cell in tables: `RND 4KiB W`, `SEQ 1024KiB R`.
    pub fn name(&self, cell: Cell) -> String {
        match self.figure {
            Figure::Iops => cell.name(),
            Figure::Throughput => cell.name().replacen("RND", "SEQ", 1),
        }
    }

    /// Returns the number of rounds, which is zones times passes.
    pub fn rounds(&self) -> u32 {
        ZONES * self.passes.len() as u32
    }

    /// Checks that each zone has room for one block of the largest size per thread.
    pub fn check(&self, context: &Context<'_>) -> Result<(), Stop> {
        let largest =
            self.passes.iter().flat_map(|cells| *cells).map(|cell| u64::from(cell.block_bytes)).max();
        let block = largest.unwrap_or(0);
        let threads = match self.figure {
            Figure::Iops => 1,
            // Each thread has its own part of the zone.
            Figure::Throughput => u64::from(self.demand(context).threads),
        };
        let needed = block * threads;
        if zone_bytes(context) >= needed {
            return Ok(());
        }
        Err(Stop::Failed(format!(
            "{}: each of the {ZONES} zones has {}, but must hold {} (one block of {} per thread); the Test AR \
             must be at least {}",
            self.test.name,
            amount_base2(zone_bytes(context)),
            amount_base2(needed),
            block_size(block),
            amount_base2(needed * u64::from(ZONES))
        )))
    }
}

/// Returns the length of each zone. The remainder at the end, less than 512 KiB, stays unused.
pub fn zone_bytes(context: &Context<'_>) -> u64 {
    let bytes = context.whole_test_range().segment_bytes / u64::from(ZONES);
    bytes - bytes % ZONE_ALIGNMENT_BYTES
}

pub fn zone_of(context: &Context<'_>, zone: u32) -> Range {
    let length = zone_bytes(context);
    let start_bytes = context.whole_test_range().start_bytes + u64::from(zone) * length;
    Range { start_bytes, ..Range::first(length) }
}
