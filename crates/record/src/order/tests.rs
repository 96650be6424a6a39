use proptest::prelude::*;

use super::*;
use crate::{Judgement, Note, Purged};

fn started(test: &str) -> Event {
    Event::TestStarted { test: test.into() }
}

fn ended(test: &str) -> Event {
    Event::TestEnded { test: test.into(), converged: None }
}

fn purged() -> Event {
    Event::Purged(Purged {
        method: "discard".into(),
        name: None,
        pts_purge: false,
        start_ns: 0,
        end_ns: 1,
        evidence: Vec::new(),
        samples_read: false,
    })
}

fn cache(restored: bool) -> Event {
    Event::WriteCache { was_on: Some(true), is_on: Some(false), restored }
}

fn opened() -> Event {
    Event::Opened { run_sha256: String::new() }
}

fn interrupted() -> Event {
    Event::Interrupted { reason: "Ctrl-C".into() }
}

const RESUMED: Event = Event::Resumed { gap_ns: 1 };
const NOTE: Event = Event::Noted(Note::RoundsEnded);
const IDLE: Event = Event::Idled { length_ns: 1 };

fn entries(events: &[Event]) -> Vec<Entry> {
    let entry = |(seq, event): (usize, &Event)| Entry {
        seq: seq as u64,
        wall: jiff::Timestamp::UNIX_EPOCH,
        event: event.clone(),
    };
    events.iter().enumerate().map(entry).collect()
}

fn check(events: &[Event]) -> Result<(), Misplaced> {
    check_order(&["iops".into(), "lat".into()], &entries(events))
}

/// A run of two tests that was interrupted in the first test and killed in the second.
fn whole() -> Vec<Event> {
    let (checked, health) = (
        Event::HostChecked { checks: Vec::new() },
        Event::Health { at_ns: 1, health: crate::Health::default() },
    );
    let estimated = crate::Estimated { source: String::new(), tests: Vec::new() };
    vec![
        opened(),
        Event::Estimated(estimated),
        checked,
        cache(false),
        started("iops"),
        health.clone(),
        purged(),
        NOTE,
        interrupted(),
        cache(true),
        RESUMED,
        cache(false),
        Event::Restarted { test: "iops".into() },
        purged(),
        IDLE,
        ended("iops"),
        started("lat"),
        purged(),
        RESUMED,
        health.clone(),
        IDLE,
        ended("lat"),
        health,
        Event::Closed,
        cache(true),
    ]
}

#[test]
fn records_of_a_run_are_in_order_wherever_it_stops() {
    for length in 1..=whole().len() {
        assert_eq!(check(&whole()[..length]), Ok(()), "{length}");
    }
}

#[test]
fn a_misplaced_record_is_named() {
    let begun = || vec![opened(), started("iops"), purged()];
    let and = |events: &[Event]| [begun(), events.to_vec()].concat();
    for (events, record, problem) in [
        (vec![], 0, "no records"),
        (vec![started("iops")], 0, "not opened"),
        (and(&[opened()]), 3, "second time"),
        (vec![opened(), purged()], 1, "none is in progress"),
        (vec![opened(), started("lat")], 1, "not the next test"),
        (vec![opened(), started("own")], 1, "not the next test"),
        (and(&[started("lat")]), 3, "iops is not complete"),
        (and(&[ended("lat")]), 3, "without having started"),
        (and(&[ended("iops"), started("iops")]), 4, "not the next test"),
        (and(&[ended("iops"), IDLE]), 4, "none is in progress"),
        (and(&[Event::Closed]), 3, "test iops is not complete"),
        (and(&[ended("iops"), Event::Closed]), 4, "test lat is not complete"),
        (and(&[interrupted(), IDLE]), 4, "not resumed"),
        (and(&[cache(true), IDLE]), 4, "not resumed"),
        (and(&[cache(false)]), 3, "before the tests"),
        (and(&[Event::Restarted { test: "iops".into() }]), 3, "was not interrupted"),
        (and(&[RESUMED, Event::Restarted { test: "lat".into() }]), 4, "was not interrupted"),
        ([whole(), vec![IDLE]].concat(), 25, "closed before this record"),
        ([whole(), vec![RESUMED]].concat(), 25, "closed before this record"),
        ([whole(), vec![Event::Closed]].concat(), 25, "closed before this record"),
    ] {
        let misplaced = check(&events).expect_err(problem);
        assert_eq!(misplaced.record, record, "{misplaced:?}");
        assert!(misplaced.problem.contains(problem), "{misplaced:?}");
    }
}

#[test]
fn rounds_are_counted_without_gaps() {
    let round = |round, cells| Event::Noted(Note::RoundStarted { round, cells });
    let judged =
        |round| Event::Noted(Note::Judged(Judgement { round, steady: false, variables: Vec::new() }));
    let window = |first_round| Event::Noted(Note::WindowRestarted { first_round });
    let restarted = || [RESUMED, Event::Restarted { test: "iops".into() }, round(1, 2)];
    let and = |events: &[Event]| [&[opened(), started("iops"), round(1, 2), IDLE], events].concat();
    for events in [
        vec![judged(1), round(2, 1), window(2), judged(2), round(3, 1)],
        vec![window(2), round(2, 1)],
        vec![NOTE, round(1, u32::MAX), judged(1)],
        vec![round(2, 2), round(1, 2), judged(1)],
        restarted().to_vec(),
        vec![ended("iops"), started("lat"), round(1, 1)],
    ] {
        assert_eq!(check(&and(&events)), Ok(()), "{events:?}");
    }
    for (event, problem) in [
        (round(0, 2), "round 0 starts after 1 rounds"),
        (round(3, 2), "round 3 starts after 1 rounds"),
        (round(u32::MAX, 2), "starts after 1 rounds"),
        (round(2, 0), "round 2 has no cells"),
        (judged(0), "evaluates round 0, but 1"),
        (judged(2), "evaluates round 2, but 1"),
        (window(0), "restarts with round 0, but 1"),
        (window(3), "restarts with round 3, but 1"),
    ] {
        let misplaced = check(&and(&[event])).expect_err(problem);
        assert_eq!(misplaced.record, 4, "{misplaced:?}");
        assert!(misplaced.problem.contains(problem), "{misplaced:?}");
    }
    // Nothing can be said about rounds before the first one.
    for event in [round(0, 1), round(2, 1), judged(0), judged(1), window(0), window(1)] {
        assert!(check(&[opened(), started("iops"), event.clone()]).is_err(), "{event:?}");
    }
}

proptest! {
    #[test]
    fn a_record_that_was_moved_past_another_test_or_the_end_is_noticed(from in 4usize..22, last in any::<bool>()) {
        // Notes and results, and the starts and ends of tests, belong to one test.
        let mut events = whole();
        prop_assume!(!matches!(events[from], Event::Resumed { .. } | Event::WriteCache { .. } | Event::Health { .. } | Event::Interrupted { .. }));
        let event = events.remove(from);
        if last { events.push(event) } else { events.insert(2, event) }
        prop_assert!(check(&events).is_err());
    }
}
