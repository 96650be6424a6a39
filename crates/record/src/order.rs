//! The grammar of a journal: which event may follow which.
//!
//! The hash chain detects accidental changes, but anyone can recompute it after reordering records. [`check_order`]
//! accepts exactly the orders in which a run can write its events. A replay of each test then checks that the
//! results match the test's requests.

use crate::{Entry, Event};

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
    let mut order = Order { tests, phase: Phase::Preparing, current: None, ended: 0 };
    for (index, entry) in entries.iter().enumerate() {
        let follows = match (index, &entry.event) {
            (0, Event::Opened { .. }) => Ok(()),
            (0, _) => Err("the run was not opened before this record".to_owned()),
            (1, Event::Estimated(_)) => Ok(()),
            (_, event) => order.take(event),
        };
        follows.map_err(|problem| Misplaced { record: index as u64, problem })?;
    }
    match entries.is_empty() {
        true => Err(Misplaced { record: 0, problem: "the journal has no records".into() }),
        false => Ok(()),
    }
}

/// The state of a run after some of its records.
struct Order<'a> {
    tests: &'a [String],
    phase: Phase,
    /// The test in progress.
    current: Option<&'a str>,
    ended: usize,
}

impl<'a> Order<'a> {
    fn take(&mut self, event: &'a Event) -> Result<(), String> {
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
            Event::Restarted { test } => match self.current {
                Some(current) if current == test && self.phase == Phase::Preparing => {
                    self.phase = Phase::Testing;
                    Ok(())
                }
                _ => Err(format!("test {test} was not interrupted, so it cannot be restarted")),
            },
            Event::TestEnded { test, .. } => match self.current.take_if(|current| current == test) {
                Some(_) => {
                    self.ended += 1;
                    self.phase = Phase::Testing;
                    Ok(())
                }
                None => Err(format!("test {test} ends without having started")),
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
            | Event::Imported(_)
            | Event::Noted(_) => self.answer(matches!(event, Event::Cut(_))),
        }
    }

    fn start(&mut self, test: &'a str) -> Result<(), String> {
        if let Some(current) = self.current {
            return Err(format!("test {test} starts while test {current} is not complete"));
        }
        // Tests run in the order in which run.json lists them.
        if self.tests.get(self.ended).is_none_or(|next| next != test) {
            return Err(format!("test {test} is not the next test of the run"));
        }
        (self.current, self.phase) = (Some(test), Phase::Testing);
        Ok(())
    }

    /// Checks the position of a result or note of the test in progress.
    fn answer(&mut self, is_last: bool) -> Result<(), String> {
        if self.current.is_none() {
            return Err("the record belongs to a test, but none is in progress".into());
        }
        self.phase = if is_last { Phase::Stopped } else { Phase::Testing };
        Ok(())
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
