//! States of the drive's volatile write cache during a test.

use record::{Entry, Event};

use crate::{Deviation, Profile, WriteCache};

/// Returns the states while `test` used the drive, in order of their first occurrence; after a restart, only
/// the states since the restart. If the test has not used the drive yet, returns the last known state. Empty if
/// the state was neither set nor queried.
#[must_use]
pub fn write_cache_states(test: &str, entries: &[Entry]) -> Vec<bool> {
    let (mut states, mut inside, mut is_on) = (Vec::new(), false, None);
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test: name } | Event::Restarted { test: name } => {
                inside = name == test;
                if inside {
                    states.clear();
                }
            }
            Event::TestEnded { .. } => inside = false,
            Event::WriteCache { is_on: state, .. } => is_on = *state,
            // The state during a purge does not affect later measurements.
            Event::Preconditioned(_) | Event::Measured(_) | Event::Cut(_) | Event::Idled { .. } if inside => {
                states.extend(is_on.filter(|state| !states.contains(state)));
            }
            _ => {}
        }
    }
    let latest = |entry: &Entry| match entry.event {
        Event::WriteCache { is_on, restored: false, .. } => is_on,
        _ => None,
    };
    if states.is_empty() {
        states.extend(entries.iter().rev().find_map(latest));
    }
    states
}

/// Reports a write cache that was not in the required state at all times.
pub(crate) fn deviation(profile: &Profile, test: &str, entries: &[Entry]) -> Option<Deviation> {
    let required = profile.write_cache == WriteCache::Enabled;
    let other = write_cache_states(test, entries).into_iter().find(|is_on| *is_on != required);
    other.map(|is_on| Deviation::WriteCache { is_on })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(test: &str, events: Vec<Event>) -> Vec<bool> {
        let entry = |(seq, event)| Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
        let entries: Vec<Entry> = (0..).zip(events).map(entry).collect();
        write_cache_states(test, &entries)
    }

    fn cache(is_on: bool) -> Event {
        Event::WriteCache { was_on: Some(true), is_on: Some(is_on), restored: false }
    }

    #[test]
    fn every_state_of_a_test_counts_until_it_restarts() {
        let used = || Event::Idled { length_ns: 1 };
        let started = |test: &str| Event::TestStarted { test: test.into() };
        let mut events = vec![cache(true), started("tp-128"), used(), cache(false), used(), used()];
        assert_eq!(states("tp-128", events.clone()), [true, false]);
        assert_eq!(states("tp-128", events[..2].to_vec()), [true], "before its first use");
        events.extend([Event::Restarted { test: "tp-128".into() }, used()]);
        assert_eq!(states("tp-128", events.clone()), [false]);
        let ended = Event::TestEnded { test: "tp-128".into(), converged: None };
        events.extend([ended, started("lat"), cache(true), used()]);
        assert_eq!((states("tp-128", events.clone()), states("lat", events)), (vec![false], vec![true]));
        assert_eq!(states("lat", vec![started("lat"), used()]), [false; 0]);
    }
}
