//! The test's parameters and the results that it received.

use record::{Purged, Segment};
use stdx::units::KIB;

use crate::flows::rounds::{Rounds, find};
use crate::method::profile::{Cell, Demand};
use crate::{Context, Test};

/// Block size of preconditioning in PTS 1.0, regardless of the block size under test.
pub const PRECONDITION_BLOCK: u32 = 128 * KIB as u32;

/// All results that the test received, whether or not it completed.
pub struct ThroughputAnswers {
    pub test: &'static Test,
    pub block_bytes: u32,
    pub purge: Option<Purged>,
    pub precondition: Option<Segment>,
    pub rounds: Rounds,
}

/// Demand during preconditioning and in all cells.
pub fn demand(context: &Context<'_>) -> Demand {
    context.demand(context.profile.throughput_demand)
}

pub fn precondition_block(context: &Context<'_>, answers: &ThroughputAnswers) -> u32 {
    if context.profile.throughput_preconditions_its_block { answers.block_bytes } else { PRECONDITION_BLOCK }
}

pub fn throughput_of(segments: &[Segment], block_bytes: u32, read_percent: u8) -> Option<f64> {
    find(segments, Cell { block_bytes, read_percent }).map(Segment::megabytes_per_second)
}
