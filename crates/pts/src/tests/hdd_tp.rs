//! Throughput by zone, following TKperf's test for hard disks: all 128 zones are measured with 1024 KiB blocks,
//! and then all with 4 KiB blocks. In each zone, sequential reads are followed by sequential writes. It is not
//! part of any version of the PTS.

use stdx::units::KIB;

use crate::Test;
use crate::flows::zones::{self, Figure, Sweep, ZONES};
use crate::method::profile::{Cell, Demand};

const LARGE: [Cell; 2] = both_ways(1024 * KIB as u32);
const SMALL: [Cell; 2] = both_ways(4 * KIB as u32);

const SWEEP: Sweep = Sweep {
    test: &TEST,
    figure: Figure::Throughput,
    passes: &[&LARGE, &SMALL],
    // Several sequential streams would make a disk seek.
    recommended: Some(Demand { threads: 1, queue_depth: 32 }),
    outline: "no purge or preconditioning; 128 equal zones from first to last; in each, SEQ reads and writes \
              of 1024 KiB, one cell each; then the same with 4 KiB",
    purpose: "show how a disk's sequential throughput depends on the position",
};

/// The test that measures throughput by zone.
pub const TEST: Test = Test {
    name: "hdd-tp",
    family: "hdd-tp",
    title: "HDD Throughput by Zone",
    subject: "HDD Throughput by Zone",
    about: "hard disks: sequential reads and writes of 1024 and 4 KiB in 128 zones, no purge (as TKperf; not PTS)",
    run: |context, bench| zones::run(&SWEEP, context, bench),
    cells_per_round: LARGE.len() as u32,
    round_name: "zone visit",
    timeline: false,
    fixed_rounds: Some(2 * ZONES),
    tracked_unit: None,
};

const fn both_ways(block_bytes: u32) -> [Cell; 2] {
    [Cell { block_bytes, read_percent: 100 }, Cell { block_bytes, read_percent: 0 }]
}
