//! Composite block size workload (PTS 2.0 clause 13): IOPS and response times of random I/O with twelve block sizes in
//! three LBA groups, R/W 40/60, over 49 demand intensities, and histograms at three of them.

use crate::flows::demand::{self, CELLS, Pattern, Stimulus};
use crate::{Test, Unit};

const PATTERN: Pattern = Pattern { test: &TEST, stimulus: Stimulus::Composite, read_percent: 40 };

/// The CBW test.
pub const TEST: Test = Test {
    name: "cbw",
    family: "cbw",
    title: "CBW",
    subject: "CBW",
    about: "composite block size workload at 49 demand intensities, histograms of three of them",
    run: |context, bench| demand::run(PATTERN, context, bench),
    cells_per_round: CELLS,
    round_name: "round",
    timeline: true,
    fixed_rounds: None,
    tracked_unit: Some(Unit::Iops),
};
