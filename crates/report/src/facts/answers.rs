//! Flattens a journal into a table: each result from the drive with its position in the run.

use pts::response::Percentile;
use record::{Entry, Event, Note, Segment};
use stdx::Histogram;

/// A workload that the drive completed, and its position in the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    /// Sequence number of the journal record.
    pub record: u64,
    /// Name of the test.
    pub test: &'a str,
    pub phase: Phase,
    /// Round of the test, starting at 1. None before the first round, after the cells of the last round (for
    /// example, in the workload for a histogram), and in tests without rounds.
    pub round: Option<u32>,
    /// Number of cells before this one in the round; None outside rounds and for preconditioning.
    pub step: Option<u32>,
    /// Number of round loops that ended before this workload: 0 in the first loop, which may be preconditioning.
    pub loops_before: u32,
    pub segment: &'a Segment,
}

/// Purpose of a workload.
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

/// A started round.
struct OpenRound {
    number: u32,
    /// Number of cells in the round.
    cells: u32,
    /// Number of measured cells.
    measured: u32,
}

/// Position while reading the journal.
#[derive(Default)]
struct Position<'a> {
    test: &'a str,
    round: Option<OpenRound>,
    /// Number of this test's round loops that the journal marks as ended.
    loops_ended: u32,
}

impl Position<'_> {
    /// Returns the current round; None if all of its cells have been measured.
    fn round(&self) -> Option<u32> {
        self.round.as_ref().filter(|open| open.measured < open.cells).map(|open| open.number)
    }

    /// Counts a measured cell and returns its round and its step within the round.
    fn measured(&mut self) -> Option<(u32, u32)> {
        let round = self.round()?;
        let open = self.round.as_mut()?;
        open.measured += 1;
        Some((round, open.measured - 1))
    }
}

/// Returns the answers in `entries`, in order. Results of a test from before its restart are discarded, as in a
/// replay.
pub(crate) fn answers(entries: &[Entry]) -> Vec<Answer<'_>> {
    let mut all: Vec<Answer<'_>> = Vec::new();
    let mut position = Position::default();
    for entry in entries {
        let loops_before = position.loops_ended;
        let answer = |test, phase, round, step, segment| Answer {
            record: entry.seq,
            test,
            phase,
            round,
            step,
            loops_before,
            segment,
        };
        match &entry.event {
            Event::TestStarted { test } => position = Position { test, ..Position::default() },
            Event::Restarted { test } => {
                all.retain(|answer| answer.test != test);
                position = Position { test, ..Position::default() };
            }
            Event::Noted(Note::RoundStarted { round, cells }) => {
                position.round = Some(OpenRound { number: *round, cells: *cells, measured: 0 });
            }
            Event::Noted(Note::RoundsEnded) => {
                position.round = None;
                position.loops_ended += 1;
            }
            Event::Preconditioned(segment) => {
                all.push(answer(position.test, Phase::Precondition, position.round(), None, segment));
            }
            Event::Measured(segment) => {
                let (round, step) = position.measured().unzip();
                all.push(answer(position.test, Phase::Measure, round, step, segment));
            }
            Event::TestEnded { test, .. } if position.loops_ended == 0 => {
                detach_last_workload(&mut all, test)
            }
            _ => {}
        }
    }
    all
}

/// Older journals do not mark the end of the rounds. In such journals, detaches the workload that follows the
/// last round, for example the workload for a histogram. That workload is recognised by its length: the last
/// workload of a test belongs to no round if no other cell has the same length.
fn detach_last_workload(all: &mut [Answer<'_>], test: &str) {
    let Some((last, before)) = all.split_last_mut().filter(|(last, _)| last.test == test) else { return };
    let cells = before.iter().filter(|a| a.test == test && a.phase == Phase::Measure && a.round.is_some());
    let mut lengths = cells.map(|cell| cell.segment.workload.until).peekable();
    let is_of_no_round =
        lengths.peek().is_some() && !lengths.any(|until| until == last.segment.workload.until);
    if last.phase == Phase::Measure && is_of_no_round {
        last.round = None;
    }
}

/// Returns the response time in ns that only `beyond_ppm` of a million I/Os exceed; None if there are too few
/// I/Os.
pub(crate) fn percentile_ns(times: &Histogram, beyond_ppm: u32) -> Option<u64> {
    Percentile { name: "", beyond_ppm }.ns_of(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::samples::{entries, measured_for, started};

    const fn round(round: u32) -> Event {
        Event::Noted(Note::RoundStarted { round, cells: 3 })
    }

    fn ended() -> Event {
        Event::TestEnded { test: "own".into(), converged: None }
    }

    fn rounds(events: Vec<Event>) -> Vec<Option<u32>> {
        let entries = entries([vec![started("own")], events].concat());
        answers(&entries).iter().map(|answer| answer.round).collect()
    }

    #[test]
    fn cells_of_a_round_may_differ_in_length() {
        let two =
            || vec![round(1), measured_for(1), measured_for(2), measured_for(1), round(2), measured_for(1)];
        // An interrupted test cannot have measured a workload after its rounds.
        let cut = [two(), vec![measured_for(2)]].concat();
        assert_eq!(rounds(cut.clone()), [1, 1, 1, 2, 2].map(Some));
        let whole = [cut, vec![measured_for(5), Event::Noted(Note::RoundsEnded), ended()]].concat();
        assert_eq!(rounds(whole), [1, 1, 1, 2, 2, 2].map(Some));
    }

    #[test]
    fn a_load_after_the_rounds_belongs_to_none_whatever_its_length() {
        let after_rounds = |note: Vec<Event>, minutes| {
            // The last round ended before its third cell.
            let begun = vec![round(1), measured_for(1), measured_for(1)];
            rounds([begun, note, vec![measured_for(minutes), ended()]].concat())
        };
        let end_noted = || vec![Event::Noted(Note::RoundsEnded)];
        assert_eq!(after_rounds(end_noted(), 20), [Some(1), Some(1), None]);
        assert_eq!(after_rounds(end_noted(), 1), [Some(1), Some(1), None]);
        // Older journals do not mark the end of the rounds, so it can be recognized only by the workload's
        // length.
        assert_eq!(after_rounds(Vec::new(), 20), [Some(1), Some(1), None]);
        assert_eq!(after_rounds(Vec::new(), 1), [1; 3].map(Some));
    }
}
