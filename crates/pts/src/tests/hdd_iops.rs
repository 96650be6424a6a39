//! IOPS by zone, following TKperf's test for hard disks: random I/O in three mixes and three block sizes in each
//! of 128 zones. It is not part of any version of the PTS.

use stdx::units::KIB;

use crate::Test;
use crate::flows::zones::{self, Figure, Sweep, ZONES};
use crate::method::profile::Cell;

/// Mixes (outer loop) and block sizes (inner loop), both descending.
const CELLS: [Cell; 9] = [
    cell(100, 64),
    cell(100, 16),
    cell(100, 4),
    cell(50, 64),
    cell(50, 16),
    cell(50, 4),
    cell(0, 64),
    cell(0, 16),
    cell(0, 4),
];

const SWEEP: Sweep = Sweep {
    test: &TEST,
    figure: Figure::Iops,
    passes: &[&CELLS],
    recommended: None,
    outline: "no purge or preconditioning; 128 equal zones from first to last; in each, RND reads, 50/50 \
              mixes and writes of 64, 16 and 4 KiB, one cell each",
    purpose: "show how a disk's random I/O performance depends on the position",
};

/// The test that measures IOPS by zone.
pub const TEST: Test = Test {
    name: "hdd-iops",
    family: "hdd-iops",
    title: "HDD IOPS by Zone",
    subject: "HDD IOPS by Zone",
    about: "hard disks: random IOPS in 128 zones, 3 R/W mixes x 3 block sizes, no purge (as TKperf; not PTS)",
    run: |context, bench| zones::run(&SWEEP, context, bench),
    cells_per_round: CELLS.len() as u32,
    round_name: "zone",
    timeline: false,
    fixed_rounds: Some(ZONES),
    tracked_unit: None,
};

const fn cell(read_percent: u8, block_kib: u32) -> Cell {
    Cell { block_bytes: block_kib * KIB as u32, read_percent }
}
