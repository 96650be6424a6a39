//! Timing of events: workloads and health readings of each test on one time axis.

use record::{Entry, Event, Health, Segment};

use crate::answers::Phase;

const MINUTE_NS: f64 = 60e9;

/// A workload with its start and end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch<'a> {
    pub phase: Phase,
    pub from_minutes: f64,
    pub to_minutes: f64,
    pub segment: &'a Segment,
}

/// The timing of one test. Minutes count from its first I/O and exclude interruptions. Minutes of a scaled drive are
/// converted to those of the full-size drive, as on the pages of the tests.
#[derive(Debug, Default)]
pub(super) struct Moments<'a> {
    pub stretches: Vec<Stretch<'a>>,
    /// Readings since the purge; those before the first I/O have negative minutes.
    pub readings: Vec<(f64, &'a Health)>,
    pub interruptions: Vec<f64>,
}

/// The timing of one test on the clock of the run, in ns.
#[derive(Default)]
struct Seen<'a> {
    test: &'a str,
    stretches: Vec<(Phase, u64, u64, &'a Segment)>,
    readings: Vec<(u64, &'a Health)>,
    interruptions: Vec<u64>,
}

/// Clock of the target, which restarts when a real drive is reopened.
#[derive(Default)]
struct Clock {
    offset_ns: u64,
    last_ns: u64,
    may_have_begun_anew: bool,
}

impl Clock {
    fn read(&mut self, target_ns: u64) -> u64 {
        if std::mem::take(&mut self.may_have_begun_anew)
            && target_ns.saturating_add(self.offset_ns) < self.last_ns
        {
            self.offset_ns = self.last_ns - target_ns;
        }
        self.last_ns = self.last_ns.max(target_ns.saturating_add(self.offset_ns));
        target_ns.saturating_add(self.offset_ns)
    }
}

/// The timing of every started test, by name.
pub(super) fn moments(entries: &[Entry], scale_divisor: u32) -> Vec<(&str, Moments<'_>)> {
    let mut all: Vec<Seen<'_>> = Vec::new();
    let mut clock = Clock::default();
    // The reading after the end of a test still belongs to it, and may also be the first one of the next test.
    let (mut current, mut ended) = (None, None);
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } | Event::Restarted { test } => {
                all.retain(|seen| seen.test != test);
                all.push(Seen { test, ..Seen::default() });
                current = Some(test);
            }
            Event::TestEnded { .. } => ended = current.take(),
            Event::Resumed { .. } => {
                clock.may_have_begun_anew = true;
                let open = all.iter_mut().filter(|seen| Some(seen.test) == current.map(String::as_str));
                open.for_each(|seen| seen.interruptions.push(clock.last_ns));
            }
            Event::Health { at_ns, health } => {
                let at_ns = clock.read(*at_ns);
                let of = [current, ended.take()];
                let concerned =
                    all.iter_mut().filter(|seen| of.iter().flatten().any(|test| seen.test == **test));
                concerned.for_each(|seen| seen.readings.push((at_ns, health)));
            }
            event => {
                let open = all.iter_mut().filter(|seen| Some(seen.test) == current.map(String::as_str));
                open.for_each(|seen| seen.see(event, &mut clock));
            }
        }
    }
    all.into_iter().map(|seen| (seen.test, seen.on_axis(f64::from(scale_divisor.max(1))))).collect()
}

impl<'a> Seen<'a> {
    fn see(&mut self, event: &'a Event, clock: &mut Clock) {
        let (phase, segment) = match event {
            Event::Preconditioned(segment) => (Phase::Precondition, segment),
            Event::Measured(segment) => (Phase::Measure, segment),
            // Flash writes before the purge are irrelevant to the test.
            Event::Purged(_) => {
                self.readings.clear();
                return;
            }
            _ => return,
        };
        let from_ns = clock.read(segment.start_ns);
        let to_ns = clock.read(segment.end_ns);
        self.stretches.push((phase, from_ns, to_ns, segment));
    }

    fn on_axis(self, scale: f64) -> Moments<'a> {
        let origin_ns = self.stretches.first().map_or(0, |(_, from_ns, ..)| *from_ns);
        let minutes = |ns: u64| (ns as f64 - origin_ns as f64) / MINUTE_NS * scale;
        let stretch = |(phase, from_ns, to_ns, segment): (Phase, u64, u64, &'a Segment)| Stretch {
            phase,
            from_minutes: minutes(from_ns),
            to_minutes: minutes(to_ns),
            segment,
        };
        Moments {
            stretches: self.stretches.into_iter().map(stretch).collect(),
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

impl Moments<'_> {
    /// End of the last workload or reading.
    pub fn end_minutes(&self) -> f64 {
        let answered = self.stretches.iter().map(|stretch| stretch.to_minutes);
        answered.chain(self.readings.iter().map(|(minute, _)| *minute)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use record::{Access, DataPattern, Direction, Note, Purged, Range, Regime, Series, Until, Workload};
    use stdx::units::SECOND_NS;

    const MINUTE: u64 = 60 * SECOND_NS;

    fn segment(from_minute: u64) -> Segment {
        let workload = Workload {
            access: Access::Random,
            read_percent: 0,
            block_bytes: 4096,
            kinds: Vec::new(),
            zones: Vec::new(),
            threads: 1,
            queue_depth: 1,
            range: Range::first(1 << 30),
            data_pattern: DataPattern::Random,
            until: Until::DurationNs(MINUTE),
            seed: 1,
            regime: Regime::default(),
        };
        Segment {
            workload,
            start_ns: from_minute * MINUTE,
            end_ns: (from_minute + 1) * MINUTE,
            read: Direction::default(),
            write: Direction::default(),
            series: Series {
                interval_ns: MINUTE,
                write_ios: vec![600],
                read_ios: vec![0],
                ..Series::default()
            },
            errors: Vec::new(),
            io_path: record::IoEngine::IoUring.into(),
            gap_before: None,
            host: None,
        }
    }

    pub fn measured(from_minute: u64) -> Event {
        Event::Measured(segment(from_minute))
    }

    pub fn measured_for(minutes: u64) -> Event {
        let Segment { workload, .. } = segment(0);
        let until = Until::DurationNs(minutes * MINUTE);
        Event::Measured(Segment { workload: Workload { until, ..workload }, ..segment(0) })
    }

    pub fn told(minute: u64, health: Health) -> Event {
        Event::Health { at_ns: minute * MINUTE, health }
    }

    pub fn started(test: &str) -> Event {
        Event::TestStarted { test: test.into() }
    }

    fn ended(test: &str) -> Event {
        Event::TestEnded { test: test.into(), converged: None }
    }

    pub fn entries(events: Vec<Event>) -> Vec<Entry> {
        let entry = |(seq, event)| Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
        (0..).zip(events).map(entry).collect()
    }

    fn purged() -> Event {
        let method = "discard".into();
        Event::Purged(Purged {
            method,
            pts_purge: false,
            start_ns: 0,
            end_ns: 0,
            evidence: Vec::new(),
            samples_read: false,
        })
    }

    fn minutes_of(moments: &Moments<'_>) -> (Vec<f64>, Vec<f64>) {
        let starts = moments.stretches.iter().map(|stretch| stretch.from_minutes).collect();
        (starts, moments.readings.iter().map(|(minute, _)| *minute).collect())
    }

    #[test]
    fn minutes_count_from_the_first_io_and_readings_from_the_purge() {
        let cool = Health::default;
        let entries = entries(vec![
            started("wsat"),
            told(1, cool()),
            purged(),
            told(3, cool()),
            Event::Preconditioned(segment(4)),
            measured(7),
            ended("wsat"),
            Event::Noted(Note::WindowRestarted { first_round: 1 }),
            started("lat"),
            told(9, cool()),
            measured(10),
            told(11, cool()),
        ]);
        let all = moments(&entries, 1);
        assert_eq!(minutes_of(&all[0].1), (vec![0.0, 3.0], vec![-1.0, 5.0]));
        assert_eq!(minutes_of(&all[1].1), (vec![0.0], vec![-1.0, 1.0]));
        assert_eq!(all[0].1.stretches[0].phase, Phase::Precondition);
        assert_eq!((all[0].0, all[1].0, all[0].1.end_minutes()), ("wsat", "lat", 5.0));
        let whole = moments(&entries, 64);
        assert_eq!(minutes_of(&whole[1].1).1, [-64.0, 64.0]);
    }

    #[test]
    fn a_clock_that_begins_anew_goes_on_behind_the_interruption() {
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
            let all = moments(&entries, 1);
            assert_eq!(minutes_of(&all[0].1).0, [0.0, 1.0, 2.0, 3.0], "{second}");
            assert_eq!(all[0].1.interruptions, [2.0]);
        }
    }

    #[test]
    fn what_was_answered_before_a_test_began_again_is_void() {
        let entries = entries(vec![
            started("wsat"),
            measured(0),
            Event::Resumed { gap_ns: 1 },
            Event::Restarted { test: "wsat".into() },
            measured(3),
            measured(4),
        ]);
        let all = moments(&entries, 1);
        assert_eq!(all.len(), 1);
        assert_eq!(minutes_of(&all[0].1).0, [0.0, 1.0]);
        assert!(all[0].1.interruptions.is_empty());
    }
}
