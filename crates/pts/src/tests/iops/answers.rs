//! The test's parameters and the results that it received.

use record::{Purged, Segment};
use stdx::units::KIB;

use crate::flows::rounds::{Rounds, find};
use crate::method::profile::Cell;

/// Percentages of reads (outer loop), descending.
pub const MIXES: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
/// Block sizes in bytes (inner loop), descending.
pub const BLOCK_SIZES: [u32; 8] = [
    1024 * KIB as u32,
    128 * KIB as u32,
    64 * KIB as u32,
    32 * KIB as u32,
    16 * KIB as u32,
    8 * KIB as u32,
    4 * KIB as u32,
    512,
];

/// Percentages of reads in table and plot order: ascending.
pub(super) fn mixes() -> impl Iterator<Item = u8> {
    MIXES.into_iter().rev()
}

/// Block sizes in table and plot order: ascending.
pub(super) fn sizes() -> impl Iterator<Item = u32> {
    BLOCK_SIZES.into_iter().rev()
}

/// All results that the test received, whether or not it completed.
pub struct IopsAnswers {
    pub purge: Option<Purged>,
    pub precondition: Option<Segment>,
    pub skipped: Vec<u32>,
    pub rounds: Rounds,
}

pub fn iops_of(segments: &[Segment], cell: Cell) -> Option<f64> {
    find(segments, cell).map(Segment::iops)
}
