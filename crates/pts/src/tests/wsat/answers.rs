//! The parameters of the test, and the answers that it received.

use record::{Purged, Segment};

use super::length::End;
use super::load::Load;
use crate::Context;
use crate::conclusions::incidents::Incidents;
use crate::exhibits::response::{FIVE_NINES, merged};
use crate::method::history::History;
use crate::method::profile::Edition;
use crate::method::timeline::Sample;

/// Minutes from one steady-state sample to the next: 30, plus the tracked one.
pub const CYCLE_MINUTES: u32 = 31;
/// Length of the histogram run.
pub const HISTOGRAM_MINUTES: u32 = 20;

/// All answers received by the test, whether or not it completed.
pub struct SaturationAnswers {
    pub load: Load,
    pub purge: Option<Purged>,
    pub minutes: Vec<Sample>,
    /// The 99.999 % response time of each minute; None if there are too few I/Os.
    pub five_nines_ms: Vec<Option<f64>>,
    pub written_bytes: u64,
    /// On the target's clock, which a scaled drive divides.
    pub elapsed_ns: u64,
    pub history: History,
    pub cycles: u32,
    pub converged: bool,
    pub end: Option<End>,
    /// The first end that the profile provides for, and its minute.
    pub required_end: Option<(End, u32)>,
    pub histogram: Option<Segment>,
    pub incidents: Incidents,
}

/// Whether the end of the curve may be called steady state.
#[derive(Clone, Copy, PartialEq)]
pub enum Level {
    /// Five samples are steady.
    Steady,
    /// Five samples were judged and are not steady.
    NotSteady,
    /// There were fewer than five samples, or the profile does not judge them.
    NotJudged,
}

impl Level {
    /// Its name in marks and key figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady state",
            Self::NotSteady => "mean of the last 30 minutes, not steady",
            Self::NotJudged => NOT_JUDGED,
        }
    }
}

/// What the end of a curve is called if nothing says that it is steady.
pub const NOT_JUDGED: &str = "mean of the last 30 minutes, not judged";

impl SaturationAnswers {
    pub fn level(&self) -> Level {
        match self.history.window().is_empty() {
            _ if self.converged => Level::Steady,
            true => Level::NotJudged,
            false => Level::NotSteady,
        }
    }

    pub fn take(&mut self, minute: u32, segment: &Segment) -> Sample {
        let sample = Sample::of(f64::from(minute), segment);
        self.incidents.see(segment);
        self.written_bytes += sample.written_bytes;
        self.elapsed_ns += segment.end_ns.saturating_sub(segment.start_ns);
        self.minutes.push(sample);
        self.five_nines_ms.push(FIVE_NINES.of(&merged([segment])));
        sample
    }
}

pub fn has_histogram(context: &Context<'_>) -> bool {
    context.profile.edition >= Edition::V2_0
}
