//! The grammar of a journal: which event may follow which.
//!
//! The hash chain detects accidental changes, but anyone can recompute it after reordering records. [`Order`] accepts
//! exactly the orders in which a run can write its events. A replay of each test then checks that the results match the
//! test's requests.

use std::sync::Arc;

use crate::{Entry, Event, Judgement, Note};

/// A record at an impossible position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misplaced {
    /// Sequence number of the misplaced record; the number of records if a record is missing at the end.
    pub record: u64,
    /// The defect.
    pub problem: String,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Started or resumed; the drive and the host are being prepared.
    Preparing,
    /// Tests are running.
    Testing,
    /// A test could not continue, or settings are being restored; the run continues only once it is resumed.
    Stopped,
    Closed,
}

/// Checks the order of events in a run of these tests, whether or not the run is complete.
///
/// # Errors
/// Returns the first misplaced record as an error.
pub fn check_order(tests: &[String], entries: &[Entry]) -> Result<(), Misplaced> {
    let mut order = Order::of(tests);
    for (record, entry) in (0..).zip(entries) {
        order.take(&entry.event).map_err(|problem| Misplaced { record, problem })?;
    }
    match entries.is_empty() {
        true => Err(Misplaced { record: 0, problem: "the journal has no records".into() }),
        false => Ok(()),
    }
}

/// The state of a run after some of its records.
#[derive(Debug, Clone)]
pub struct Order {
    tests: Arc<[String]>,
    records: u64,
    phase: Phase,
    /// Whether the test after those that have ended is in progress.
    in_test: bool,
    ended: usize,
    /// The latest round of the rounds in progress; 0 before the first.
    round: u32,
}

impl Order {
    /// Returns the state of a run of these tests before its first record.
    #[must_use]
    pub fn of(tests: &[String]) -> Self {
        Self { tests: tests.into(), records: 0, phase: Phase::Preparing, in_test: false, ended: 0, round: 0 }
    }

    /// Checks the next event.
    ///
    /// # Errors
    /// Returns why a run cannot have written it here.
    pub fn take(&mut self, event: &Event) -> Result<(), String> {
        let record = self.records;
        self.records += 1;
        match (record, event) {
            (0, Event::Opened { .. }) | (1, Event::Estimated(_)) => Ok(()),
            (0, _) => Err("the run was not opened before this record".into()),
            _ => self.follow(event),
        }
    }

    /// Returns the test in progress.
    fn current(&self) -> Option<&str> {
        self.tests.get(self.ended).filter(|_| self.in_test).map(String::as_str)
    }

    fn follow(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Opened { .. } => Err("the run is opened a second time".into()),
            Event::Estimated(_) => Err("the estimate does not follow the opening of the run".into()),
            Event::WriteCache { restored: true, .. }
            | Event::Tuned { restored: true, .. }
            | Event::LbaFormat { restored: true, .. } => {
                if self.phase != Phase::Closed {
                    self.phase = Phase::Stopped;
                }
                Ok(())
            }
            _ if self.phase == Phase::Closed => Err("the run was closed before this record".into()),
            Event::Resumed { .. } => {
                self.phase = Phase::Preparing;
                Ok(())
            }
            _ if self.phase == Phase::Stopped && !matches!(event, Event::Interrupted { .. }) => {
                Err("the run stopped before this record and was not resumed".into())
            }
            Event::HostChecked { .. }
            | Event::WriteCache { .. }
            | Event::Tuned { .. }
            | Event::LbaFormat { .. }
            | Event::IdlePower { .. } => match self.phase {
                Phase::Preparing => Ok(()),
                _ => Err("drive and host are prepared before the tests, not during them".into()),
            },
            Event::TestStarted { test } => self.start(test),
            Event::Restarted { test } => match self.current() {
                Some(current) if current == test && self.phase == Phase::Preparing => {
                    (self.phase, self.round) = (Phase::Testing, 0);
                    Ok(())
                }
                _ => Err(format!("test {test} was not interrupted, so it cannot be restarted")),
            },
            Event::TestEnded { test, .. } => match self.current() {
                Some(current) if current == test => {
                    self.ended += 1;
                    (self.in_test, self.phase) = (false, Phase::Testing);
                    Ok(())
                }
                _ => Err(format!("test {test} ends without having started")),
            },
            Event::Interrupted { .. } => {
                self.phase = Phase::Stopped;
                Ok(())
            }
            Event::Closed => self.close(),
            Event::Health { .. } => {
                self.phase = Phase::Testing;
                Ok(())
            }
            Event::Purged(_)
            | Event::Preconditioned(_)
            | Event::Measured(_)
            | Event::Cut(_)
            | Event::Idled { .. }
            | Event::Imported(_) => self.answer(matches!(event, Event::Cut(_))),
            Event::Noted(note) => self.answer(false).and_then(|()| self.note(note)),
        }
    }

    fn start(&mut self, test: &str) -> Result<(), String> {
        if let Some(current) = self.current() {
            return Err(format!("test {test} starts while test {current} is not complete"));
        }
        // Tests run in the order in which run.json lists them.
        if self.tests.get(self.ended).is_none_or(|next| next != test) {
            return Err(format!("test {test} is not the next test of the run"));
        }
        (self.in_test, self.phase, self.round) = (true, Phase::Testing, 0);
        Ok(())
    }

    /// Checks the position of a result or note of the test in progress.
    fn answer(&mut self, is_last: bool) -> Result<(), String> {
        if !self.in_test {
            return Err("the record belongs to a test, but none is in progress".into());
        }
        self.phase = if is_last { Phase::Stopped } else { Phase::Testing };
        Ok(())
    }

    /// Checks the numbers in a note. Rounds are counted from 1, without gaps, until they end.
    fn note(&mut self, note: &Note) -> Result<(), String> {
        let latest = self.round;
        match *note {
            Note::RoundStarted { round, cells: 0 } => Err(format!("round {round} has no cells")),
            Note::RoundStarted { round, .. } => {
                // Early builds did not record the end of the rounds before others began.
                if round != 1 && latest.checked_add(1) != Some(round) {
                    return Err(format!("round {round} starts after {latest} rounds"));
                }
                self.round = round;
                Ok(())
            }
            Note::RoundsEnded => {
                self.round = 0;
                Ok(())
            }
            Note::Judged(Judgement { round, .. }) if round == 0 || round != latest => {
                Err(format!("it evaluates round {round}, but {latest} rounds have started"))
            }
            // An interrupted round cannot be in the window, but the next one can.
            Note::WindowRestarted { first_round: round }
                if latest == 0 || round < latest || round - latest > 1 =>
            {
                Err(format!("the window restarts with round {round}, but {latest} rounds have started"))
            }
            Note::Judged(_) | Note::WindowRestarted { .. } | Note::Skipped { .. } => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        match self.tests.get(self.ended) {
            Some(test) => Err(format!("the run is closed although test {test} is not complete")),
            None => {
                self.phase = Phase::Closed;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
