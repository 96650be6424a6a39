//! The test's parameters and the results that it received.

use record::{Purged, Segment};
use stdx::units::KIB;

use crate::Context;
use crate::flows::rounds::{Rounds, find};
use crate::method::profile::{Cell, Demand, Edition};

/// Percentages of reads (outer loop), descending.
pub const MIXES: [u8; 3] = [100, 65, 0];
/// Block sizes in bytes (inner loop), descending.
pub const BLOCK_SIZES: [u32; 3] = [8 * KIB as u32, 4 * KIB as u32, 512];
/// The PTS requires one outstanding I/O, because the test measures the response time of a single I/O.
pub const DEMAND: Demand = Demand { threads: 1, queue_depth: 1 };
/// The cell whose mean response time is the tracking variable.
pub const TRACKED: Cell = Cell { block_bytes: 4 * KIB as u32, read_percent: 0 };
/// Length of the histogram run.
pub const HISTOGRAM_MINUTES: u32 = 20;

/// All results that the test received, whether or not it completed.
pub struct LatencyAnswers {
    pub purge: Option<Purged>,
    pub precondition: Option<Segment>,
    pub skipped: Vec<u32>,
    pub rounds: Rounds,
    pub histogram: Option<Segment>,
}

pub fn has_histogram(context: &Context<'_>) -> bool {
    context.profile.edition >= Edition::V2_0
}

pub fn average_of(segments: &[Segment], cell: Cell) -> Option<f64> {
    find(segments, cell).and_then(Segment::mean_latency_ms)
}

pub fn maximum_of(segments: &[Segment], cell: Cell) -> Option<f64> {
    find(segments, cell).and_then(Segment::max_latency_ms)
}
