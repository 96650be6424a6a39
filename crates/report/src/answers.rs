//! Every answer of the drive with its place in the run, for exports: the journal as a table.

use pts::response::Percentile;
use record::{Entry, Event, Note, Segment, Until};
use stdx::Histogram;

/// One workload that the drive answered, and where in the run it belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    /// Record of the journal.
    pub record: u64,
    /// Name of the test.
    pub test: &'a str,
    pub phase: Phase,
    /// Round of the test, from 1; none before the first, behind the cells of the last, such as in the load for a
    /// histogram, and in tests without rounds.
    pub round: Option<u32>,
    pub segment: &'a Segment,
}

/// What a workload was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Precondition,
    Measure,
}

impl Phase {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Precondition => "precondition",
            Self::Measure => "measure",
        }
    }
}

/// A round that was begun.
struct Open {
    number: u32,
    /// Cells that are still to come.
    cells: u32,
    /// When the first of its cells ends: all of a round end alike.
    until: Option<Until>,
}

impl Open {
    /// The round, where `segment` is the next of its cells.
    fn takes(&mut self, segment: &Segment) -> bool {
        let until = segment.workload.until;
        let takes = self.cells > 0 && *self.until.get_or_insert(until) == until;
        self.cells = if takes { self.cells - 1 } else { 0 };
        takes
    }
}

/// The answers of `entries` in order. What a test answered before it began again is void, as in a replay.
pub(crate) fn answers(entries: &[Entry]) -> Vec<Answer<'_>> {
    let mut all: Vec<Answer<'_>> = Vec::new();
    let mut test = "";
    let mut round: Option<Open> = None;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test: name } => (test, round) = (name, None),
            Event::Restarted { test: name } => {
                all.retain(|answer| answer.test != name);
                (test, round) = (name, None);
            }
            Event::Noted(Note::RoundStarted { round: number, cells }) => {
                round = Some(Open { number: *number, cells: *cells, until: None });
            }
            Event::Preconditioned(segment) => {
                let round = round.as_ref().filter(|open| open.cells > 0).map(|open| open.number);
                all.push(Answer { record: entry.seq, test, phase: Phase::Precondition, round, segment });
            }
            Event::Measured(segment) => {
                let round = round.as_mut().and_then(|open| open.takes(segment).then_some(open.number));
                all.push(Answer { record: entry.seq, test, phase: Phase::Measure, round, segment });
            }
            _ => {}
        }
    }
    all
}

/// The response time that all but `beyond_ppm` I/Os in a million do not exceed, in ns; none with too few I/Os.
pub(crate) fn percentile_ns(times: &Histogram, beyond_ppm: u32) -> Option<u64> {
    Percentile { name: "", beyond_ppm }.of(times).map(|ms| (ms * 1e6).round() as u64)
}
