//! Demand intensity response-time histogram (PTS-E 1.1 and PTS 2.0 clause 14): IOPS and response times of one
//! random workload over 49 demand intensities, and histograms at three of them. The tester chooses block size and
//! mix; the defaults represent OLTP.

use stdx::units::KIB;

use crate::flows::demand::{self, CELLS, Pattern, Stimulus};
use crate::{Context, Test, Unit};

/// OLTP.
const BLOCK_BYTES: u32 = 8 * KIB as u32;
const READ_PERCENT: u8 = 65;

/// The DIRTH test.
pub const TEST: Test = Test {
    name: "dirth",
    family: "dirth",
    title: "DIRTH",
    subject: "DIRTH",
    about: "a random workload, 8 KiB 65/35 unless chosen, at 49 demand intensities, response-time histograms of three of them",
    run: |context, bench| demand::run(pattern(context), context, bench),
    cells_per_round: CELLS,
    round_name: "round",
    timeline: true,
    fixed_rounds: None,
    tracked_unit: Some(Unit::Iops),
};

fn pattern(context: &Context<'_>) -> Pattern {
    let chosen = context.settings.dirth;
    Pattern {
        test: &TEST,
        stimulus: Stimulus::Block(chosen.block_bytes.unwrap_or(BLOCK_BYTES)),
        read_percent: chosen.read_percent.unwrap_or(READ_PERCENT),
    }
}
