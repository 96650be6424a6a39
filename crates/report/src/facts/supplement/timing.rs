//! Timing: workloads and health readings of each test on one time axis.

use record::{Entry, Event, Health, Segment};

use crate::facts::answers::Phase;
use crate::facts::scaled_clock::ScaledClock;

/// A workload with its start and end on the axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimedWorkload<'a> {
    pub phase: Phase,
    pub from_minutes: f64,
    pub to_minutes: f64,
    pub segment: &'a Segment,
}

/// The timing of one test. Minutes count from its first I/O and exclude interruptions. Times on a scaled drive
/// are converted to the corresponding times on the full-size drive, as on the tests' pages.
#[derive(Debug, Default)]
pub(super) struct Timing<'a> {
    pub workloads: Vec<TimedWorkload<'a>>,
    /// Readings since the purge; readings before the first I/O have negative minutes.
    pub readings: Vec<(f64, &'a Health)>,
    pub interruptions: Vec<f64>,
}

/// The timing of one test on the clock of the run, in ns.
#[derive(Default)]
struct ClockTiming<'a> {
    test: &'a str,
    workloads: Vec<(Phase, u64, u64, &'a Segment)>,
    readings: Vec<(u64, &'a Health)>,
    interruptions: Vec<u64>,
}

/// The target's clock, made continuous, because the clock of a real drive restarts when the drive is reopened.
#[derive(Default)]
struct Clock {
    offset_ns: u64,
    last_ns: u64,
    may_have_restarted: bool,
}

impl Clock {
    fn read(&mut self, target_ns: u64) -> u64 {
        if std::mem::take(&mut self.may_have_restarted)
            && target_ns.saturating_add(self.offset_ns) < self.last_ns
        {
            self.offset_ns = self.last_ns - target_ns;
        }
        self.last_ns = self.last_ns.max(target_ns.saturating_add(self.offset_ns));
        target_ns.saturating_add(self.offset_ns)
    }
}

/// Returns the timing of every started test, by name.
pub(super) fn timings<'a>(entries: &'a [Entry], scaled: &ScaledClock) -> Vec<(&'a str, Timing<'a>)> {
    let mut all: Vec<ClockTiming<'_>> = Vec::new();
    let mut clock = Clock::default();
    // The reading after the end of a test still belongs to that test, and may also be the first reading of the
    // next test.
    let (mut current, mut ended) = (None, None);
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } | Event::Restarted { test } => {
                all.retain(|timing| timing.test != test);
                all.push(ClockTiming { test, ..ClockTiming::default() });
                current = Some(test);
            }
            Event::TestEnded { .. } => ended = current.take(),
            Event::Resumed { .. } => {
                clock.may_have_restarted = true;
                let open = all.iter_mut().filter(|timing| Some(timing.test) == current.map(String::as_str));
                open.for_each(|timing| timing.interruptions.push(clock.last_ns));
            }
            Event::Health { at_ns, health } => {
                let at_ns = clock.read(*at_ns);
                let of = [current, ended.take()];
                let concerned =
                    all.iter_mut().filter(|timing| of.iter().flatten().any(|test| timing.test == **test));
                concerned.for_each(|timing| timing.readings.push((at_ns, health)));
            }
            event => {
                if is_answer(event) {
                    ended = None;
                }
                let open = all.iter_mut().filter(|timing| Some(timing.test) == current.map(String::as_str));
                open.for_each(|timing| timing.add(event, &mut clock));
            }
        }
    }
    all.into_iter().map(|timing| (timing.test, timing.on_axis(scaled))).collect()
}

/// Returns whether an event says what the drive did. The first reading after that of the next test says nothing about the
/// test that has ended, even if the drive failed or was idle.
fn is_answer(event: &Event) -> bool {
    matches!(
        event,
        Event::Purged(_)
            | Event::Preconditioned(_)
            | Event::Measured(_)
            | Event::Cut(_)
            | Event::Idled { .. }
    )
}

impl<'a> ClockTiming<'a> {
    fn add(&mut self, event: &'a Event, clock: &mut Clock) {
        let (phase, segment) = match event {
            Event::Preconditioned(segment) => (Phase::Precondition, segment),
            Event::Measured(segment) => (Phase::Measure, segment),
            // Flash writes before the purge are irrelevant to the test.
            Event::Purged(_) => {
                self.readings.clear();
                return;
            }
            // Neither is a completed workload, but an interruption that follows comes after it.
            Event::Cut(cut) => {
                let intervals = cut.series.read_ios.len().max(cut.series.write_ios.len()) as u64;
                let length_ns = intervals.saturating_mul(cut.series.interval_ns);
                clock.read(cut.start_ns.saturating_add(length_ns));
                return;
            }
            Event::Idled { length_ns } => {
                clock.last_ns = clock.last_ns.saturating_add(*length_ns);
                return;
            }
            _ => return,
        };
        let from_ns = clock.read(segment.start_ns);
        let to_ns = clock.read(segment.end_ns);
        self.workloads.push((phase, from_ns, to_ns, segment));
    }

    fn on_axis(self, scaled: &ScaledClock) -> Timing<'a> {
        let origin = scaled.minutes(self.workloads.first().map_or(0, |(_, from_ns, ..)| *from_ns));
        let minutes = |ns: u64| scaled.minutes(ns) - origin;
        let workload = |(phase, from_ns, to_ns, segment): (Phase, u64, u64, &'a Segment)| TimedWorkload {
            phase,
            from_minutes: minutes(from_ns),
            to_minutes: minutes(to_ns),
            segment,
        };
        Timing {
            workloads: self.workloads.into_iter().map(workload).collect(),
            readings: self.readings.into_iter().map(|(ns, health)| (minutes(ns), health)).collect(),
            interruptions: self
                .interruptions
                .into_iter()
                .map(minutes)
                .filter(|minute| *minute >= 0.0)
                .collect(),
        }
    }
}

impl Timing<'_> {
    /// Returns the end of the last workload or reading.
    pub fn end_minutes(&self) -> f64 {
        let answered = self.workloads.iter().map(|workload| workload.to_minutes);
        answered.chain(self.readings.iter().map(|(minute, _)| *minute)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::samples::{MINUTE_NS as MINUTE, entries, measured, read, segment, started};
    use record::{Cut, Note, Purged};

    fn ended(test: &str) -> Event {
        Event::TestEnded { test: test.into(), converged: None }
    }

    fn purged() -> Event {
        let method = "discard".into();
        Event::Purged(Purged {
            method,
            name: None,
            pts_purge: false,
            start_ns: 0,
            end_ns: 0,
            evidence: Vec::new(),
            samples_read: false,
        })
    }

    fn minutes_of(timing: &Timing<'_>) -> (Vec<f64>, Vec<f64>) {
        let starts = timing.workloads.iter().map(|workload| workload.from_minutes).collect();
        (starts, timing.readings.iter().map(|(minute, _)| *minute).collect())
    }

    #[test]
    fn minutes_count_from_the_first_io_and_readings_from_the_purge() {
        let cool = Health::default;
        let entries = entries(vec![
            started("wsat"),
            read(1, cool()),
            purged(),
            read(3, cool()),
            Event::Preconditioned(segment(4)),
            measured(7),
            ended("wsat"),
            Event::Noted(Note::WindowRestarted { first_round: 1 }),
            started("lat"),
            read(9, cool()),
            measured(10),
            read(11, cool()),
        ]);
        let all = timings(&entries, &ScaledClock::of(&entries, 1));
        assert_eq!(minutes_of(&all[0].1), (vec![0.0, 3.0], vec![-1.0, 5.0]));
        assert_eq!(minutes_of(&all[1].1), (vec![0.0], vec![-1.0, 1.0]));
        assert_eq!(all[0].1.workloads[0].phase, Phase::Precondition);
        assert_eq!((all[0].0, all[1].0, all[0].1.end_minutes()), ("wsat", "lat", 5.0));
        let whole = timings(&entries, &ScaledClock::of(&entries, 64));
        assert_eq!(minutes_of(&whole[1].1).1, [-64.0, 64.0]);
    }

    #[test]
    fn a_reading_after_the_load_of_the_next_test_does_not_belong_to_the_test_before() {
        let entries = entries(vec![
            started("wsat"),
            measured(0),
            ended("wsat"),
            started("lat"),
            Event::Preconditioned(segment(1)),
            read(30, Health::default()),
            measured(30),
        ]);
        let all = timings(&entries, &ScaledClock::of(&entries, 1));
        assert_eq!(all[0].1.end_minutes(), 1.0);
        assert_eq!(minutes_of(&all[1].1).1, [29.0]);
    }

    #[test]
    fn a_clock_that_restarts_continues_after_the_interruption() {
        let resumed = || Event::Resumed { gap_ns: 90 * MINUTE };
        let events = |second: u64| {
            entries(vec![
                started("iops"),
                measured(5),
                measured(6),
                resumed(),
                measured(second),
                measured(second + 1),
            ])
        };
        for second in [0, 1, 7] {
            let entries = events(second);
            let all = timings(&entries, &ScaledClock::of(&entries, 1));
            assert_eq!(minutes_of(&all[0].1).0, [0.0, 1.0, 2.0, 3.0], "{second}");
            assert_eq!(all[0].1.interruptions, [2.0]);
        }
    }

    fn cut(minute: u64) -> Event {
        let Segment { workload, start_ns, series, .. } = segment(minute);
        Event::Cut(Cut { workload, start_ns, series, errors: Vec::new() })
    }

    #[test]
    fn a_failure_and_idle_time_of_the_next_test_end_the_test_before() {
        for answer in [cut(1), Event::Idled { length_ns: MINUTE }] {
            let entries = entries(vec![
                started("wsat"),
                measured(0),
                ended("wsat"),
                started("lat"),
                answer,
                read(30, Health::default()),
            ]);
            let all = timings(&entries, &ScaledClock::of(&entries, 1));
            assert_eq!((all[0].1.end_minutes(), all[0].1.readings.len()), (1.0, 0));
            assert_eq!(all[1].1.readings.len(), 1);
        }
    }

    #[test]
    fn an_interruption_comes_after_the_failure_or_the_idle_time() {
        let resumed = || Event::Resumed { gap_ns: MINUTE };
        for answer in [cut(1), Event::Idled { length_ns: MINUTE }] {
            let entries = entries(vec![started("hir"), measured(0), answer, resumed(), measured(0)]);
            let all = timings(&entries, &ScaledClock::of(&entries, 1));
            assert_eq!(all[0].1.interruptions, [2.0]);
            assert_eq!(minutes_of(&all[0].1).0, [0.0, 2.0]);
        }
    }

    #[test]
    fn answers_before_a_restart_of_the_test_are_discarded() {
        let entries = entries(vec![
            started("wsat"),
            measured(0),
            Event::Resumed { gap_ns: 1 },
            Event::Restarted { test: "wsat".into() },
            measured(3),
            measured(4),
        ]);
        let all = timings(&entries, &ScaledClock::of(&entries, 1));
        assert_eq!(all.len(), 1);
        assert_eq!(minutes_of(&all[0].1).0, [0.0, 1.0]);
        assert!(all[0].1.interruptions.is_empty());
    }
}
