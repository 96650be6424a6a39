//! The parameters of the test, and the answers that it received.

use record::{Purged, Segment};
use stdx::units::KIB;

use crate::Context;
use crate::conclusions::incidents::Incidents;
use crate::exhibits::response::{FIVE_NINES, merged};
use crate::method::history::History;
use crate::method::profile::{Cell, Edition};
use crate::method::timeline::Sample;

/// The write workload.
pub const STIMULUS: Cell = Cell { block_bytes: 4 * KIB as u32, read_percent: 0 };
/// Minutes from one steady-state sample to the next: 30, plus the tracked one.
pub const CYCLE_MINUTES: u32 = 31;
/// Length of the histogram run.
pub const HISTOGRAM_MINUTES: u32 = 20;

/// All answers received by the test, whether or not it completed.
pub struct SaturationAnswers {
    pub purge: Option<Purged>,
    pub minutes: Vec<Sample>,
    /// The 99.999 % response time of each minute; None if there are too few I/Os.
    pub five_nines_ms: Vec<Option<f64>>,
    pub written_bytes: u64,
    pub history: History,
    pub cycles: u32,
    pub converged: bool,
    pub end: Option<End>,
    pub histogram: Option<Segment>,
    pub incidents: Incidents,
}

/// The condition that ended the saturation.
#[derive(Clone, Copy, PartialEq)]
pub enum End {
    Written,
    Time,
    Steady,
}

impl SaturationAnswers {
    pub fn take(&mut self, minute: u32, segment: &Segment) -> Sample {
        let sample = Sample::of(f64::from(minute), segment);
        self.incidents.see(segment);
        self.written_bytes += sample.written_bytes;
        self.minutes.push(sample);
        self.five_nines_ms.push(FIVE_NINES.of(&merged([segment])));
        sample
    }
}

pub fn has_histogram(context: &Context<'_>) -> bool {
    context.profile.edition >= Edition::V2_0
}
