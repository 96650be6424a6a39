//! Flattens a journal into a table for exports: each answer of the drive with its position in the run.

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
    /// Round of the test, starting at 1. None before the first round, after the cells of the last one (for example, the
    /// workload for a histogram), and in tests without rounds.
    pub round: Option<u32>,
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
struct Open {
    number: u32,
    /// Number of remaining cells.
    cells: u32,
}

/// Position while reading the journal.
#[derive(Default)]
struct Place<'a> {
    test: &'a str,
    round: Option<Open>,
    /// True if the journal marks the end of the rounds of this test.
    told: bool,
}

impl Place<'_> {
    /// The current round; None if all of its cells are measured.
    fn round(&self) -> Option<u32> {
        self.round.as_ref().filter(|open| open.cells > 0).map(|open| open.number)
    }

    /// Counts a measured cell and returns its round.
    fn measured(&mut self) -> Option<u32> {
        let round = self.round();
        if let Some(open) = &mut self.round {
            open.cells = open.cells.saturating_sub(1);
        }
        round
    }
}

/// The answers in `entries`, in order. Answers of a test before its restart are discarded, as in a replay.
pub(crate) fn answers(entries: &[Entry]) -> Vec<Answer<'_>> {
    let mut all: Vec<Answer<'_>> = Vec::new();
    let mut place = Place::default();
    for entry in entries {
        let answer = |test, phase, round, segment| Answer { record: entry.seq, test, phase, round, segment };
        match &entry.event {
            Event::TestStarted { test } => place = Place { test, ..Place::default() },
            Event::Restarted { test } => {
                all.retain(|answer| answer.test != test);
                place = Place { test, ..Place::default() };
            }
            Event::Noted(Note::RoundStarted { round, cells }) => {
                place.round = Some(Open { number: *round, cells: *cells });
            }
            Event::Noted(Note::RoundsEnded) => (place.round, place.told) = (None, true),
            Event::Preconditioned(segment) => {
                all.push(answer(place.test, Phase::Precondition, place.round(), segment));
            }
            Event::Measured(segment) => {
                let round = place.measured();
                all.push(answer(place.test, Phase::Measure, round, segment));
            }
            Event::TestEnded { test, .. } if !place.told => part_from_rounds(&mut all, test),
            _ => {}
        }
    }
    all
}

/// Finds workloads after the last round, for example for a histogram, in older journals, which do not mark the end of
/// the rounds. They are recognised by length: the last workload of a test is one if none of its cells has the same
/// length.
fn part_from_rounds(all: &mut [Answer<'_>], test: &str) {
    let Some((last, before)) = all.split_last_mut().filter(|(last, _)| last.test == test) else { return };
    let cells = before.iter().filter(|a| a.test == test && a.phase == Phase::Measure && a.round.is_some());
    let mut lengths = cells.map(|cell| cell.segment.workload.until).peekable();
    let is_other = lengths.peek().is_some() && !lengths.any(|until| until == last.segment.workload.until);
    if last.phase == Phase::Measure && is_other {
        last.round = None;
    }
}

/// The response time in ns that only `beyond_ppm` I/Os per million exceed; None if there are too few I/Os.
pub(crate) fn percentile_ns(times: &Histogram, beyond_ppm: u32) -> Option<u64> {
    Percentile { name: "", beyond_ppm }.ns_of(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beyond::moments::tests::{entries, measured_for, started};

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
    fn cells_of_a_round_need_not_be_of_one_length() {
        let two =
            || vec![round(1), measured_for(1), measured_for(2), measured_for(1), round(2), measured_for(1)];
        // Interrupted: no workload can have been measured after the rounds.
        let cut = [two(), vec![measured_for(2)]].concat();
        assert_eq!(rounds(cut.clone()), [1, 1, 1, 2, 2].map(Some));
        let whole = [cut, vec![measured_for(5), Event::Noted(Note::RoundsEnded), ended()]].concat();
        assert_eq!(rounds(whole), [1, 1, 1, 2, 2, 2].map(Some));
    }

    #[test]
    fn a_load_behind_the_rounds_belongs_to_none_whatever_its_length() {
        let behind = |note: Vec<Event>, minutes| {
            // The last round was left before its third cell.
            let begun = vec![round(1), measured_for(1), measured_for(1)];
            rounds([begun, note, vec![measured_for(minutes), ended()]].concat())
        };
        let said = || vec![Event::Noted(Note::RoundsEnded)];
        assert_eq!(behind(said(), 20), [Some(1), Some(1), None]);
        assert_eq!(behind(said(), 1), [Some(1), Some(1), None]);
        // Older journals do not mark the end, so the length decides.
        assert_eq!(behind(Vec::new(), 20), [Some(1), Some(1), None]);
        assert_eq!(behind(Vec::new(), 1), [1; 3].map(Some));
    }
}
