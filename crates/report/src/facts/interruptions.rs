//! Interruptions of a run: when, why and for how long.

use jiff::Timestamp;
use record::{Entry, Event};
use stdx::units::span;

use super::dates;

/// One interruption of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interruption {
    pub at: Timestamp,
    /// Reason for the interruption; None if the host stopped without recording a reason.
    pub reason: Option<String>,
    /// Time until the run continued; None if it did not continue.
    pub gap_ns: Option<u64>,
    /// Name of a test that restarted after the interruption.
    pub restarted: Option<String>,
}

/// Returns all interruptions, in order.
pub(crate) fn interruptions(entries: &[Entry]) -> Vec<Interruption> {
    let begun = |at, reason, gap_ns| Interruption { at, reason, gap_ns, restarted: None };
    let mut all: Vec<Interruption> = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        match &entry.event {
            Event::Interrupted { reason } => all.push(begun(entry.wall, Some(reason.clone()), None)),
            Event::Resumed { gap_ns } => match all.last_mut().filter(|last| last.gap_ns.is_none()) {
                Some(last) => last.gap_ns = Some(*gap_ns),
                None => all.push(begun(entries[i.saturating_sub(1)].wall, None, Some(*gap_ns))),
            },
            Event::Restarted { test } => {
                if let Some(last) = all.last_mut() {
                    last.restarted = Some(test.clone());
                }
            }
            _ => {}
        }
    }
    all
}

impl Interruption {
    /// Returns the date, reason and end, for the special notes.
    pub fn describe(&self) -> String {
        let end = match (self.gap_ns, &self.restarted) {
            (Some(gap), Some(test)) => {
                format!("resumed after {}; the {test} test was restarted at its purge", span(gap))
            }
            (Some(gap), None) => format!("resumed after {}", span(gap)),
            (None, _) => "not resumed".to_owned(),
        };
        format!("{}: {}; {end}", dates::printed(Some(self.at)), self.reason())
    }

    fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or("the run ended without a recorded reason")
    }
}

/// Returns the number, total length and first reason of the interruptions, of which there is at least one, for banners.
pub(crate) fn in_short(interruptions: &[Interruption]) -> String {
    let gaps: Vec<u64> = interruptions.iter().filter_map(|interruption| interruption.gap_ns).collect();
    let length = match (interruptions.len(), gaps.as_slice()) {
        (1, []) => "once, not resumed".to_owned(),
        (1, [gap]) => format!("once, for {}", span(*gap)),
        (times, gaps) => {
            let end = if gaps.len() < times { ", not resumed since" } else { "" };
            format!("{times} times, for {} in total{end}", span(gaps.iter().sum()))
        }
    };
    let first = interruptions[0].reason();
    let others = interruptions.iter().any(|other| other.reason() != first);
    format!("{length} ({first}{})", if others { "; and others" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(events: Vec<Event>) -> Vec<Entry> {
        let at = |i: i64| Timestamp::from_second(1_795_241_366 + 60 * i).unwrap();
        let entry = |(i, event): (usize, Event)| Entry { seq: i as u64, wall: at(i as i64), event };
        events.into_iter().enumerate().map(entry).collect()
    }

    #[test]
    fn banners_include_the_reason() {
        let interrupted = |reason: &str| Event::Interrupted { reason: reason.into() };
        let resumed = || Event::Resumed { gap_ns: 5_000_000_000 };
        let banner = |events| in_short(&interruptions(&entries(events)));
        assert_eq!(banner(vec![interrupted("Ctrl-C")]), "once, not resumed (Ctrl-C)");
        let twice = |second| vec![interrupted("Ctrl-C"), resumed(), interrupted(second), resumed()];
        assert_eq!(banner(twice("Ctrl-C")), "2 times, for 10 s in total (Ctrl-C)");
        assert_eq!(banner(twice("the device is gone")), "2 times, for 10 s in total (Ctrl-C; and others)");
        assert_eq!(
            banner(vec![interrupted("Ctrl-C"), resumed(), interrupted("Ctrl-C")]),
            "2 times, for 5 s in total, not resumed since (Ctrl-C)"
        );
        assert_eq!(
            banner(vec![Event::TestStarted { test: "iops".into() }, resumed()]),
            "once, for 5 s (the run ended without a recorded reason)"
        );
    }

    #[test]
    fn descriptions_include_how_the_interruption_ended() {
        let test = || "iops".to_owned();
        let described: Vec<String> = interruptions(&entries(vec![
            Event::TestStarted { test: test() },
            Event::Resumed { gap_ns: 90_000_000_000 },
            Event::Interrupted { reason: "Ctrl-C".into() },
            Event::Resumed { gap_ns: 5_000_000_000 },
            Event::Restarted { test: test() },
            Event::Interrupted { reason: "the device is gone".into() },
        ]))
        .iter()
        .map(Interruption::describe)
        .collect();
        assert_eq!(
            described,
            [
                "2026-11-21 06:09 UTC: the run ended without a recorded reason; resumed after 1 min 30 s",
                "2026-11-21 06:11 UTC: Ctrl-C; resumed after 5 s; the iops test was restarted at its \
                 purge",
                "2026-11-21 06:14 UTC: the device is gone; not resumed",
            ]
        );
    }
}
