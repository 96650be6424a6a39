//! Whether a run can continue without a decision by the operator. Pure.

use pts::Task;
use record::{Entry, Event, RunFile};

/// Why the operator must decide how a run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The timeline of the interrupted test is its result, so the test must be restarted or continued with a
    /// gap.
    Timeline,
    /// The run's array does not survive an interruption, so the test must be restarted.
    Array,
}

/// Returns the interrupted test and the reason why the operator must decide how the run continues: otherwise, a
/// drive that was already purged for the test would be purged again. `None` if the run can continue as it is.
#[must_use]
pub fn needed<'a>(file: &RunFile, entries: &'a [Entry]) -> Option<(&'a str, Decision)> {
    let name = interrupted_after_purge(entries)?;
    if file.target.array.is_some() {
        return Some((name, Decision::Array));
    }
    Task::named(file, name).is_ok_and(Task::is_timeline).then_some((name, Decision::Timeline))
}

/// Returns the test that would continue on the state that its purge and its earlier workloads have left on the drive;
/// `None` if the next step is a purge.
#[must_use]
pub fn continues<'a>(file: &RunFile, entries: &'a [Entry], continue_timeline: bool) -> Option<&'a str> {
    let name = interrupted_after_purge(entries)?;
    let restarts = !continue_timeline && Task::named(file, name).is_ok_and(Task::is_timeline);
    (!restarts).then_some(name)
}

/// A job does not continue a run by itself that was continued this often since its last result.
pub const MOST_FRUITLESS: usize = 2;

/// Returns the number of continuations since the last result. If a purge or a workload takes longer than a job may run,
/// each continuation writes to the drive and none completes anything.
#[must_use]
pub fn fruitless(entries: &[Entry]) -> usize {
    let is_answer = |event: &Event| {
        matches!(
            event,
            Event::Purged(_) | Event::Preconditioned(_) | Event::Measured(_) | Event::Idled { .. }
        )
    };
    let since = entries.iter().rev().map(|entry| &entry.event).take_while(|event| !is_answer(event));
    since.filter(|event| matches!(event, Event::Resumed { .. })).count()
}

/// Returns the test that was interrupted after its initial purge.
fn interrupted_after_purge(entries: &[Entry]) -> Option<&str> {
    let mut interrupted = None;
    let mut current = None;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } | Event::Restarted { test } => {
                (current, interrupted) = (Some(test), None)
            }
            Event::Purged(_) => interrupted = current,
            Event::TestEnded { .. } => (current, interrupted) = (None, None),
            _ => {}
        }
    }
    interrupted.map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Purged;

    fn entries(events: Vec<Event>) -> Vec<Entry> {
        let entry = |(seq, event)| Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
        (0..).zip(events).map(entry).collect()
    }

    #[test]
    fn a_test_counts_as_interrupted_from_its_purge_to_its_end() {
        let started = || Event::TestStarted { test: "wsat".into() };
        let purged = || {
            Event::Purged(Purged {
                method: "m".into(),
                name: None,
                pts_purge: true,
                start_ns: 0,
                end_ns: 1,
                evidence: Vec::new(),
                samples_read: false,
            })
        };
        let ended = Event::TestEnded { test: "wsat".into(), converged: None };
        let resumed = || Event::Resumed { gap_ns: 1 };
        let counted = |events| fruitless(&entries(events));
        assert_eq!(counted(vec![started(), resumed(), resumed()]), 2, "not even a purge");
        assert_eq!(counted(vec![started(), resumed(), resumed(), purged()]), 0);
        assert_eq!(
            counted(vec![started(), purged(), resumed(), Event::Restarted { test: "wsat".into() }]),
            1
        );
        let at = |events| interrupted_after_purge(&entries(events)).map(str::to_owned);
        assert_eq!(at(vec![started()]), None, "a purge that was not recorded is repeated");
        assert_eq!(at(vec![started(), purged()]), Some("wsat".into()));
        assert_eq!(at(vec![started(), purged(), Event::Restarted { test: "wsat".into() }]), None);
        assert_eq!(at(vec![started(), purged(), ended]), None);
    }
}
