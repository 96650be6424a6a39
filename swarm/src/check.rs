//! Invariants that must hold after any crash.

use std::fmt;

use plateau::course;
use record::{Entry, Event, Gap, Loaded, RunFile, Segment, Workload};

use crate::shown::{Line, Shown};

/// The promises that the product makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Promise {
    /// Nothing that was displayed is lost.
    ShownIsKept,
    /// A test purges twice only if there is a reason to restart it.
    PurgedOnce,
    /// The results of resumed runs equal the results of undisturbed runs, or record the gap.
    FiguresAreTrue,
    /// `verify` passes.
    Verifies,
    /// A run exists completely or not at all, and the library contains nothing else.
    NoTornRun,
    /// A run on a working disk completes.
    Completes,
    /// All settings have the values that they had before the first run, and no restore record remains.
    SettingsRestored,
    /// The program does not panic.
    NoPanic,
}

/// A promise that the product broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The promise.
    pub promise: Promise,
    /// Description of the violation.
    pub text: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.text)
    }
}

/// Everything that the run has displayed so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Displayed {
    id: bool,
    /// The last record displayed; its hash covers all records before it.
    last: Option<Line>,
}

impl Displayed {
    pub fn add(&mut self, shown: &Shown) {
        match shown {
            Shown::Id => self.id = true,
            Shown::Record(line) => self.last = Some(line.clone()),
        }
    }

    /// Checks that `journal` still contains everything that was displayed.
    pub fn is_in(&self, journal: Option<&[u8]>) -> Result<(), Broken> {
        let lost = |text: &str| Err(Broken { promise: Promise::ShownIsKept, text: text.into() });
        match (journal, &self.last) {
            (None, _) if self.id => lost("the id of the run was shown, but there is no run"),
            (None, Some(_)) => lost("a record was shown, but there is no run"),
            (Some(journal), Some(Line { end, bytes })) => {
                if journal.get(end - bytes.len()..*end) == Some(&bytes[..]) {
                    return Ok(());
                }
                lost(&format!(
                    "shown and lost: {}",
                    String::from_utf8_lossy(&bytes[65..bytes.len().min(200)])
                ))
            }
            (_, None) => Ok(()),
        }
    }
}

fn is_answer(event: &Event) -> bool {
    matches!(event, Event::Purged(_) | Event::Preconditioned(_) | Event::Measured(_) | Event::Idled { .. })
}

/// Returns the drive's answers in an undisturbed run.
pub(crate) fn answers(loaded: &Loaded) -> Vec<Event> {
    loaded.entries.iter().map(|entry| &entry.event).filter(|event| is_answer(event)).cloned().collect()
}

/// Checks everything that must hold for the journal of a completed run.
pub(crate) fn complete(file: &RunFile, loaded: &Loaded, undisturbed: &[Event]) -> Result<(), Broken> {
    let is = |event: &Event| loaded.entries.last().is_some_and(|last| last.event == *event);
    let closed = loaded.entries.iter().any(|entry| entry.event == Event::Closed);
    // The write cache is restored after the last test, which adds one record.
    let ends = is(&Event::Closed) || matches!(loaded.entries.last(), Some(last) if is_restored(&last.event));
    if !closed || !ends {
        return broken(Promise::Completes, "the journal does not say that the run is complete".into());
    }
    verified(file, loaded)?;
    purged_once(&loaded.entries)?;
    gaps_are_stated(&loaded.entries)?;
    begins_as(&loaded.entries, undisturbed)
}

/// Replays the journal on a new drive and compares every answer. This takes as long as the run itself.
pub(crate) fn repeats(file: &RunFile, loaded: &Loaded) -> Result<(), Broken> {
    course::repeats(file, loaded).or_else(|ended| broken(Promise::FiguresAreTrue, ended.message))
}

fn broken<T>(promise: Promise, text: String) -> Result<T, Broken> {
    Err(Broken { promise, text })
}

fn is_restored(event: &Event) -> bool {
    matches!(event, Event::WriteCache { restored: true, .. })
}

fn verified(file: &RunFile, loaded: &Loaded) -> Result<(), Broken> {
    if let Err(misplaced) = record::check_order(&file.tests, &loaded.entries) {
        return broken(Promise::Verifies, format!("record {}: {}", misplaced.record, misplaced.problem));
    }
    let verified = pts::verify::verify(file, &loaded.entries);
    let verified = verified.or_else(|text| broken(Promise::Verifies, text))?;
    match verified.iter().flat_map(|test| &test.differences).next() {
        Some(difference) => {
            broken(Promise::Verifies, format!("{:?}: {}", difference.record, difference.text))
        }
        None => Ok(()),
    }
}

fn purged_once(entries: &[Entry]) -> Result<(), Broken> {
    let mut purged = false;
    for entry in entries {
        match entry.event {
            Event::TestStarted { .. } | Event::Restarted { .. } => purged = false,
            Event::Purged(_) if purged => {
                return broken(Promise::PurgedOnce, format!("record {} is a second purge", entry.seq));
            }
            Event::Purged(_) => purged = true,
            _ => {}
        }
    }
    Ok(())
}

/// Checks that the first answer after an interruption within a test records the length of the gap, unless it is
/// a purge.
fn gaps_are_stated(entries: &[Entry]) -> Result<(), Broken> {
    let mut gap = None;
    for entry in entries {
        match &entry.event {
            Event::Resumed { gap_ns } => gap = Some(gap.unwrap_or(0) + gap_ns),
            Event::TestStarted { .. } | Event::Restarted { .. } | Event::Purged(_) => gap = None,
            Event::Preconditioned(segment) | Event::Measured(segment) => {
                let stated = segment.gap_before.map(|Gap { length_ns }| length_ns);
                if stated != gap {
                    let text =
                        format!("record {} gives a gap of {stated:?} ns, but it was {gap:?}", entry.seq);
                    return broken(Promise::FiguresAreTrue, text);
                }
                gap = None;
            }
            Event::Idled { .. } => gap = None,
            _ => {}
        }
    }
    Ok(())
}

/// Checks that the answers up to the first interruption with a gap equal those in the undisturbed run.
fn begins_as(entries: &[Entry], undisturbed: &[Event]) -> Result<(), Broken> {
    let mut expected = undisturbed.iter();
    for entry in entries {
        match &entry.event {
            Event::Resumed { gap_ns } if *gap_ns > 0 => return Ok(()),
            // Later answers have no counterpart: round numbers start over, and the drive has been written to.
            Event::Restarted { .. } | Event::TestEnded { .. } | Event::WriteCache { restored: true, .. } => {
                return Ok(());
            }
            event if is_answer(event) => match expected.next() {
                None => return Ok(()),
                // Round numbers start over after an interruption, so the test may request a different workload.
                Some(expected) if requested(event) != requested(expected) => return Ok(()),
                Some(expected) if without_gap(event) == *expected => {}
                Some(_) => {
                    let text = format!("record {} differs from the record of the undisturbed run", entry.seq);
                    return broken(Promise::FiguresAreTrue, text);
                }
            },
            _ => {}
        }
    }
    Ok(())
}

fn requested(event: &Event) -> Option<&Workload> {
    match event {
        Event::Preconditioned(segment) | Event::Measured(segment) => Some(&segment.workload),
        _ => None,
    }
}

fn without_gap(event: &Event) -> Event {
    let clean = |segment: &Segment| Segment { gap_before: None, ..segment.clone() };
    match event {
        Event::Preconditioned(segment) => Event::Preconditioned(clean(segment)),
        Event::Measured(segment) => Event::Measured(clean(segment)),
        other => other.clone(),
    }
}
