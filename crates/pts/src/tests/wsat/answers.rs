//! The test's parameters and the results that it received.

use record::{Purged, Segment};

use super::figures::LAST_MINUTES;
use super::length::End;
use super::load::Load;
use crate::Context;
use crate::conclusions::incidents::Incidents;
use crate::exhibits::response::{FIVE_NINES, merged};
use crate::method::history::History;
use crate::method::profile::Edition;
use crate::method::timeline::Sample;

/// Minutes from one steady-state sample to the next: 30, plus the tracked minute.
pub const CYCLE_MINUTES: u32 = 31;
/// Length of the histogram run.
pub const HISTOGRAM_MINUTES: u32 = 20;

/// All results that the test received, whether or not it completed.
pub struct SaturationAnswers {
    pub load: Load,
    /// What a cell is called: `minute`, unless it does not take a minute.
    pub cell: &'static str,
    pub purge: Option<Purged>,
    pub minutes: Vec<Sample>,
    /// The 99.999 % response time of each minute; None if there are too few I/Os.
    pub five_nines_ms: Vec<Option<f64>>,
    pub written_bytes: u64,
    /// Time on the target's clock; a scaled drive's clock counts scaled time.
    pub elapsed_ns: u64,
    pub history: History,
    pub cycles: u32,
    pub converged: bool,
    pub end: Option<End>,
    /// The first end condition of the profile that was met, and its minute.
    pub required_end: Option<(End, u32)>,
    /// Same as `required_end`, but without the time limit, which the tester may extend in some profiles.
    pub untimed_end: Option<(End, u32)>,
    /// Number of minutes that a simulated drive extended.
    pub extended: u32,
    pub histogram: Option<Segment>,
    pub incidents: Incidents,
}

/// Whether the end of the curve may be called steady state.
#[derive(Clone, Copy, PartialEq)]
pub enum Level {
    /// Five samples are steady.
    Steady,
    /// Five samples were evaluated and are not steady.
    NotSteady,
    /// There were fewer than five samples, or the profile does not require steady state.
    NotJudged,
}

impl Level {
    /// Returns the name in key figures; `last` are the cells over which the level is averaged if it is not steady.
    pub fn name(self, last: &str) -> String {
        match self {
            Self::Steady => "steady state".into(),
            Self::NotSteady => format!("mean {last}, not steady"),
            Self::NotJudged => format!("mean {last}, not judged"),
        }
    }
}

/// Returns the cells over which a curve's level is averaged if it is not steady.
fn last_of(count: usize, cell: &str) -> String {
    match count {
        0 | LAST_MINUTES.. => format!("of the last {LAST_MINUTES} {cell}s"),
        1 => format!("of the only {cell}"),
        fewer => format!("of all {fewer} {cell}s"),
    }
}

/// Returns the name for the end of a curve of `minutes` minutes that is not known to be steady.
pub fn not_judged(minutes: usize) -> String {
    Level::NotJudged.name(&last_of(minutes, "minute"))
}

impl SaturationAnswers {
    pub fn level(&self) -> Level {
        match self.history.window().is_empty() {
            _ if self.converged => Level::Steady,
            true => Level::NotJudged,
            false => Level::NotSteady,
        }
    }

    pub fn last(&self) -> String {
        last_of(self.minutes.len(), self.cell)
    }

    pub fn take(&mut self, context: &Context<'_>, minute: u32, segment: &Segment) -> Sample {
        let sample = Sample::of(f64::from(minute), segment);
        self.incidents.see(segment);
        self.extended += u32::from(segment.extended_by(context.scale_divisor()).is_some());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_fewer_minutes_says_of_how_many() {
        assert_eq!(not_judged(1), "mean of the only minute, not judged");
        assert_eq!(not_judged(29), "mean of all 29 minutes, not judged");
        for minutes in [0, 30, 31, 1440] {
            assert_eq!(not_judged(minutes), "mean of the last 30 minutes, not judged");
        }
    }
}
