//! Failed I/Os of a test. A failed I/O ends its workload, so most failures belong to workloads that never
//! completed; only the journal counts these.

use record::{Entry, Event};

use crate::Deviation;

/// The failed I/Os of one workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failures {
    /// Sequence number of the journal record that contains them.
    pub record: u64,
    /// The workload.
    pub workload: String,
    /// Number of failed I/Os.
    pub count: u64,
}

/// Returns the failed I/Os of `test`; after a restart, only the I/Os since the restart.
#[must_use]
pub fn failures(test: &str, entries: &[Entry]) -> Vec<Failures> {
    let mut all = Vec::new();
    let mut inside = false;
    for entry in entries {
        let (workload, errors) = match &entry.event {
            Event::TestStarted { test: name } | Event::Restarted { test: name } => {
                inside = name == test;
                if inside {
                    all.clear();
                }
                continue;
            }
            Event::TestEnded { .. } => {
                inside = false;
                continue;
            }
            Event::Cut(cut) => (&cut.workload, &cut.errors),
            Event::Preconditioned(segment) | Event::Measured(segment) => (&segment.workload, &segment.errors),
            _ => continue,
        };
        let count = errors.iter().map(|error| error.count).sum();
        if inside && count > 0 {
            all.push(Failures { record: entry.seq, workload: workload.to_string(), count });
        }
    }
    all
}

/// Returns one deviation for each workload name.
pub(crate) fn deviations(failures: &[Failures]) -> Vec<Deviation> {
    let mut all: Vec<(u64, &str)> = Vec::new();
    for failed in failures {
        match all.iter_mut().find(|(_, workload)| *workload == failed.workload) {
            Some((count, _)) => *count += failed.count,
            None => all.push((failed.count, &failed.workload)),
        }
    }
    let deviation =
        |(count, workload): (u64, &str)| Deviation::Errors { count, workload: workload.to_owned() };
    all.into_iter().map(deviation).collect()
}

#[cfg(test)]
mod tests {
    use record::{Cut, ErrorCount};

    use super::*;
    use crate::fixture::segment;

    fn cut(count: u64) -> Event {
        let segment = segment(vec![1], 1_000_000_000);
        let errors = vec![ErrorCount { kind: "EIO".into(), count }];
        Event::Cut(Cut { workload: segment.workload, start_ns: 0, series: segment.series, errors })
    }

    #[test]
    fn failures_count_for_their_test_until_it_restarts() {
        let started = |test: &str| Event::TestStarted { test: test.into() };
        let ended = Event::TestEnded { test: "iops".into(), converged: None };
        let mut events = vec![started("iops"), cut(32), cut(1), ended, started("tp"), cut(5)];
        let count = |events: &[Event], test: &str| {
            let entry = |(seq, event): (u64, &Event)| Entry {
                seq,
                wall: jiff::Timestamp::UNIX_EPOCH,
                event: event.clone(),
            };
            let entries: Vec<Entry> = (0..).zip(events).map(entry).collect();
            let failures = failures(test, &entries);
            (failures.iter().map(|f| f.record).collect::<Vec<_>>(), crate::listed(&deviations(&failures)))
        };
        assert_eq!(count(&events, "iops"), (vec![1, 2], "33 I/O errors in RND 1000B W".to_owned()));
        assert_eq!(count(&events, "tp").0, [5]);
        events.extend([Event::Restarted { test: "tp".into() }, cut(7)]);
        assert_eq!(count(&events, "tp").0, [7]);
        assert_eq!(count(&events, "lat").0, [0; 0]);
    }
}
