//! Demand intensity response-time histogram (PTS-E 1.1 and PTS 2.0 clause 14): IOPS and response times of one random
//! workload over 49 demand intensities, and histograms of three of them. The tester chooses the workload; this one
//! represents OLTP.

use stdx::units::KIB;

use crate::Test;
use crate::flows::demand::{self, CELLS, Pattern, Stimulus};

const PATTERN: Pattern = Pattern { test: &TEST, stimulus: Stimulus::Block(8 * KIB as u32), read_percent: 65 };

/// The DIRTH test.
pub const TEST: Test = Test {
    name: "dirth",
    family: "dirth",
    title: "DIRTH",
    subject: "DIRTH",
    about: "random 8 KiB 65/35 at 49 demand intensities, response-time histograms of three of them",
    run: |context, bench| demand::run(&PATTERN, context, bench),
    cells_per_round: CELLS,
    timeline: true,
    fixed_rounds: None,
};
