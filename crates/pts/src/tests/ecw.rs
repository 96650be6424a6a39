//! Enterprise composite workload (PTS-E 1.1 clause 13): the same workload and flow that PTS 2.0 calls CBW, plus a first
//! page with the access pattern.

use crate::flows::demand::{self, CELLS, Pattern, Stimulus};
use crate::{Test, Unit};

const PATTERN: Pattern = Pattern { test: &TEST, stimulus: Stimulus::Composite, read_percent: 40 };

/// The ECW test.
pub const TEST: Test = Test {
    name: "ecw",
    family: "ecw",
    title: "Enterprise Composite Workload",
    subject: "ECW",
    about: "the composite block size workload as defined by PTS-E 1.1",
    run: |context, bench| demand::run(PATTERN, context, bench),
    cells_per_round: CELLS,
    round_name: "round",
    timeline: true,
    fixed_rounds: None,
    tracked_unit: Some(Unit::Iops),
};
