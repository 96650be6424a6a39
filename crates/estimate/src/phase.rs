//! The current phase of a run, derived from its journal.

use record::{Entry, Event, Note, RunFile};
use stdx::units::count_of;

use crate::cost;

/// The phase after the last record in a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// No test has started.
    Starting,
    /// The drive is being purged.
    Purge {
        /// Name of the test.
        test: String,
    },
    /// The drive is being preconditioned.
    Preconditioning {
        /// Name of the test.
        test: String,
    },
    /// A cell of a round is being measured.
    Round {
        /// Name of the test.
        test: String,
        /// Round number, starting at 1.
        round: u32,
        /// Number of the cell being measured, starting at 1.
        cell: u32,
        /// Number of cells in the round.
        cells: u32,
    },
    /// A test without rounds is being measured, or a part of a test that follows its rounds.
    Measuring {
        /// Name of the test.
        test: String,
        /// Number of workloads completed since the test's purge.
        finished: u32,
    },
    /// All tests have ended, or the next one has not started.
    Between,
}

impl Phase {
    /// Returns the name of the current test.
    #[must_use]
    pub fn test(&self) -> Option<&str> {
        match self {
            Self::Starting | Self::Between => None,
            Self::Purge { test }
            | Self::Preconditioning { test }
            | Self::Round { test, .. }
            | Self::Measuring { test, .. } => Some(test),
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Starting => f.write_str("starting"),
            Self::Purge { test } => write!(f, "{test}: purge"),
            Self::Preconditioning { test } => write!(f, "{test}: preconditioning"),
            Self::Round { test, round, cell, cells } => {
                write!(f, "{test}: round {round}, cell {cell} of {cells}")
            }
            Self::Measuring { test, finished } => {
                write!(f, "{test}: {} completed", count_of(*finished, "workload"))
            }
            Self::Between => f.write_str("between tests"),
        }
    }
}

/// Returns the phase of a run whose journal contains `entries`.
#[must_use]
pub fn phase(entries: &[Entry]) -> Phase {
    let mut phase = Phase::Starting;
    let mut finished = 0;
    for entry in entries {
        let test = phase.test().unwrap_or_default().to_owned();
        phase = match &entry.event {
            Event::TestStarted { test } | Event::Restarted { test } => {
                finished = 0;
                Phase::Purge { test: test.clone() }
            }
            Event::Purged(_) | Event::Preconditioned(_) => Phase::Preconditioning { test },
            Event::Noted(Note::RoundStarted { round, cells }) => {
                Phase::Round { test, round: *round, cell: 1, cells: *cells }
            }
            Event::Noted(Note::RoundsEnded) => Phase::Measuring { test, finished },
            Event::Measured(_) => {
                finished += 1;
                match phase {
                    // The last cell of a round is followed by the next round or by the end of the test. A journal
                    // from another host may state a round without cells.
                    Phase::Round { test, round, cell, cells } => {
                        Phase::Round { test, round, cell: (cell + 1).min(cells.max(1)), cells }
                    }
                    _ => Phase::Measuring { test, finished },
                }
            }
            Event::TestEnded { .. } | Event::Closed => Phase::Between,
            _ => continue,
        };
    }
    phase
}

/// Returns the expected remaining time of a run in ns on the target's clock: first with steady state as early
/// as possible, then without steady state. Excludes purges. Returns `None` if the run has no estimate.
#[must_use]
pub fn left_ns(run: &RunFile, entries: &[Entry]) -> Option<(u64, u64)> {
    let estimated = entries.iter().find_map(|entry| match &entry.event {
        Event::Estimated(estimated) => Some(estimated),
        _ => None,
    })?;
    let spent = cost::of_run(run, entries);
    let of = |test: &record::TestEstimate| {
        let begun = spent.iter().find(|spent| spent.test == test.test);
        match begun {
            Some(begun) if begun.ended => (0, 0),
            Some(begun) => {
                let left = |all: u64| all.saturating_sub(begun.taken.duration_ns);
                (left(test.shortest.duration_ns), left(test.longest.duration_ns))
            }
            None => (test.shortest.duration_ns, test.longest.duration_ns),
        }
    };
    let requested = estimated.tests.iter().filter(|test| run.tests.contains(&test.test));
    Some(requested.map(of).fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1)))
}

#[cfg(test)]
mod tests {
    use record::Purged;

    use super::*;

    fn journal(events: Vec<Event>) -> Vec<Entry> {
        let wall = jiff::Timestamp::UNIX_EPOCH;
        events.into_iter().enumerate().map(|(seq, event)| Entry { seq: seq as u64, wall, event }).collect()
    }

    fn started() -> Event {
        Event::TestStarted { test: "iops".into() }
    }

    fn purged() -> Event {
        Event::Purged(Purged {
            method: "discard".into(),
            name: None,
            pts_purge: true,
            start_ns: 0,
            end_ns: 1,
            evidence: Vec::new(),
            samples_read: false,
        })
    }

    #[test]
    fn the_phase_is_the_next_step() {
        let round = |round| Event::Noted(Note::RoundStarted { round, cells: 56 });
        let text = |events: Vec<Event>| phase(&journal(events)).to_string();
        assert_eq!(text(vec![]), "starting");
        assert_eq!(text(vec![started()]), "iops: purge");
        assert_eq!(text(vec![started(), purged()]), "iops: preconditioning");
        assert_eq!(text(vec![started(), purged(), round(2)]), "iops: round 2, cell 1 of 56");
        let interrupted = Event::Interrupted { reason: "stopped".into() };
        let resumed = Event::Resumed { gap_ns: 1 };
        assert_eq!(
            text(vec![started(), purged(), round(2), interrupted, resumed]),
            "iops: round 2, cell 1 of 56"
        );
        let ended = Event::TestEnded { test: "iops".into(), converged: Some(true) };
        assert_eq!(text(vec![started(), purged(), round(1), ended]), "between tests");
        let restarted = Event::Restarted { test: "iops".into() };
        assert_eq!(text(vec![started(), purged(), round(1), restarted]), "iops: purge");
        let over = Event::Noted(Note::RoundsEnded);
        assert_eq!(text(vec![started(), purged(), round(1), over]), "iops: 0 workloads completed");
    }
}
