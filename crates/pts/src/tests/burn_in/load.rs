//! The load of a burn-in. Its data is verified, so it uses a single thread and a limited number of blocks at a time.

use record::{Range, Regime, Until, Workload};
use stdx::units::{KIB, MIB};

use crate::flows::composite::Composite;
use crate::method::profile::{Cell, Demand};
use crate::{Context, Stop};

/// Length of a burn-in's cell in minutes, scaled down if the run's cells are shorter than a minute.
pub const CELL_MINUTES: u32 = 10;
/// Verification works only with a single thread.
pub const DEMAND: Demand = Demand { threads: 1, queue_depth: 32 };
/// Number of blocks whose writes are tracked at a time, which takes 256 MiB of memory.
const MOST_BLOCKS: u64 = 1 << 26;
const MIXED: Cell = Cell { block_bytes: 64 * KIB as u32, read_percent: 50 };
const ENTERPRISE_READ_PERCENT: u8 = 40;

/// The load of a run.
pub enum Load {
    /// Random 64 KiB, half of them reads.
    Mixed,
    /// The enterprise workload of JESD219, without I/Os smaller than 4 KiB.
    Jesd219(Composite),
}

impl Load {
    /// Returns the load that the settings name; the name was checked when it was read.
    pub fn of(context: &Context<'_>) -> Self {
        match context.settings.further.get("burn-in-load").map(String::as_str) {
            Some("jesd219") => Self::Jesd219(Composite::in_pages()),
            _ => Self::Mixed,
        }
    }

    /// Rejects a device whose sectors are too large, before anything is written.
    pub fn check(&self, context: &Context<'_>) -> Result<(), Stop> {
        match self {
            Self::Mixed => Ok(()),
            Self::Jesd219(composite) => composite.check(context),
        }
    }

    /// Name as printed.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mixed => "RND 64KiB 50/50",
            Self::Jesd219(_) => "JESD219 40/60",
        }
    }

    fn granule_bytes(&self) -> u64 {
        match self {
            Self::Mixed => MIXED.block_bytes.into(),
            Self::Jesd219(_) => 4 * KIB,
        }
    }

    /// Returns one cell. A range with too many blocks is divided into equal windows, and the cells use one window
    /// after another.
    pub fn workload(&self, context: &Context<'_>, cell: u32) -> Workload {
        let plain = match self {
            Self::Mixed => context.cell_at(DEMAND, 1, cell, MIXED),
            Self::Jesd219(composite) => {
                let read_percent = ENTERPRISE_READ_PERCENT;
                composite.apply(context.cell_at(DEMAND, 1, cell, Cell { read_percent, ..MIXED }))
            }
        };
        Workload {
            range: window(context.whole_test_range(), self.granule_bytes(), cell),
            until: Until::DurationNs(context.minutes_ns(CELL_MINUTES)),
            regime: Regime { verify: true, ..Regime::default() },
            ..plain
        }
    }
}

fn window(range: Range, granule_bytes: u64, cell: u32) -> Range {
    let windows = range.segment_bytes.div_ceil(MOST_BLOCKS * granule_bytes).max(1);
    if windows == 1 {
        return range;
    }
    let bytes = range.segment_bytes / windows / MIB * MIB;
    let start_bytes = range.start_bytes + u64::from(cell) % windows * bytes;
    Range { start_bytes, ..Range::first(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_take_turns_and_cover_the_range() {
        let range = Range::first(1 << 40);
        assert_eq!(window(range, 64 * KIB, 5), range, "4 TiB of blocks at a time");
        let all: Vec<Range> = (0..8).map(|cell| window(range, 4 * KIB, cell)).collect();
        assert_eq!(all[..4], all[4..]);
        assert!(all.iter().all(|window| window.segment_bytes == 1 << 38));
        assert_eq!(all[3].span().end_bytes(), 1 << 40);
    }
}
