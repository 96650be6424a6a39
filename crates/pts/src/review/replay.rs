//! A bench that replays a journal, for reports, re-evaluation and resuming.

use std::borrow::Cow;
use std::collections::VecDeque;

use record::{Entry, Event, Health, Note, Purged, RunFile, Segment, Workload};

use crate::conclusions::{failures, modified, write_cache};
use crate::imported;
use crate::quality::depth;
use crate::quality::extended;
use crate::quality::few_ios;
use crate::quality::host_limit;
use crate::quality::temperature;
use crate::{Bench, Context, Outcome, Stop, Task};

/// Serves a test from its recorded events, and then returns [`Stop::EndOfJournal`].
///
/// The results are borrowed, because a run of several days has hundreds of megabytes of them; each is copied
/// when it is returned.
#[derive(Debug, Clone)]
pub struct Replay<'a> {
    answers: VecDeque<Cow<'a, Event>>,
    /// Notes recorded after the last result. A note emitted earlier must already be in the journal.
    notes: VecDeque<Note>,
    /// Readings from the start of the test to the start of the next test.
    health: Vec<Health>,
}

impl<'a> Replay<'a> {
    /// Collects the results of `test` from `entries`; after a restart, only those since the restart.
    #[must_use]
    pub fn of(test: &str, entries: &'a [Entry]) -> Self {
        let mut replay = Self { answers: VecDeque::new(), notes: VecDeque::new(), health: Vec::new() };
        let (mut inside, mut is_latest) = (false, false);
        for entry in entries {
            match &entry.event {
                Event::TestStarted { test: name } | Event::Restarted { test: name } => {
                    inside = name == test;
                    is_latest = inside;
                    if inside {
                        replay.answers.clear();
                        replay.notes.clear();
                        replay.health.clear();
                    }
                }
                Event::TestEnded { .. } => inside = false,
                Event::Health { health, .. } if is_latest => replay.health.push(health.clone()),
                Event::Noted(note) if inside => replay.notes.push_back(note.clone()),
                Event::Purged(_) | Event::Preconditioned(_) | Event::Measured(_) | Event::Idled { .. }
                    if inside =>
                {
                    replay.answers.push_back(Cow::Borrowed(&entry.event));
                    replay.notes.clear();
                }
                _ => {}
            }
        }
        replay
    }

    /// Copies the results, so that they no longer borrow the entries.
    #[must_use]
    pub fn into_owned(self) -> Replay<'static> {
        let answers = self.answers.into_iter().map(|answer| Cow::Owned(answer.into_owned())).collect();
        Replay { answers, notes: self.notes, health: self.health }
    }

    /// Returns whether no results are left, so that the next one must come from elsewhere.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.answers.is_empty()
    }

    /// Returns the workloads among the remaining results, measured or not.
    fn workloads(&self) -> impl Iterator<Item = &Segment> {
        self.answers.iter().filter_map(|event| match &**event {
            Event::Measured(segment) | Event::Preconditioned(segment) => Some(segment),
            _ => None,
        })
    }

    /// Returns the measured cells among the remaining results.
    fn measured(&self) -> impl Iterator<Item = &Segment> {
        self.answers.iter().filter_map(|event| match &**event {
            Event::Measured(segment) => Some(segment),
            _ => None,
        })
    }

    /// Returns whether the journal already contains `note`. A note is derived from the results before it, so notes
    /// are matched by position, not by value: a build that rounds differently must not record a note twice.
    pub fn had_noted(&mut self, note: &Note) -> bool {
        if !self.is_exhausted() {
            return true;
        }
        let Some(place) = self.notes.iter().position(|recorded| same_place(recorded, note)) else {
            // Early builds did not record the end of rounds. After the start of the rounds that follow, it would end those.
            let is_start = |note: &Note| matches!(note, Note::RoundStarted { round: 1, .. });
            return *note == Note::RoundsEnded && self.notes.iter().any(is_start);
        };
        self.notes.drain(..=place);
        true
    }

    fn next(&mut self) -> Result<Event, Stop> {
        self.answers.pop_front().map(Cow::into_owned).ok_or(Stop::EndOfJournal)
    }
}

fn same_place(one: &Note, other: &Note) -> bool {
    match (one, other) {
        (Note::RoundStarted { round: a, .. }, Note::RoundStarted { round: b, .. }) => a == b,
        (Note::RoundsEnded, Note::RoundsEnded) => true,
        (Note::Judged(a), Note::Judged(b)) => a.round == b.round,
        (Note::Skipped { what: a, .. }, Note::Skipped { what: b, .. }) => a == b,
        (Note::WindowRestarted { first_round: a }, Note::WindowRestarted { first_round: b }) => a == b,
        _ => false,
    }
}

fn diverged<T>(requested: &str, found: &Event) -> Result<T, Stop> {
    let found = match found {
        Event::Purged(_) => "a purge".to_owned(),
        Event::Preconditioned(s) => format!("preconditioning {}", s.workload),
        Event::Measured(s) => format!("measurement {}", s.workload),
        Event::Idled { length_ns } => format!("idle of {length_ns} ns"),
        _ => "something else".to_owned(),
    };
    // Workloads are printed in short form, so they may differ in properties that it omits.
    let other =
        if found == requested { " with other threads, queue depth, offsets, data or seed" } else { "" };
    Err(Stop::Diverged(format!("it requests {requested}, but the journal contains {found}{other}")))
}

impl Bench for Replay<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        match self.next()? {
            Event::Purged(purged) => Ok(purged),
            other => diverged("a purge", &other),
        }
    }

    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        match self.next()? {
            Event::Preconditioned(segment) if segment.workload == *workload => Ok(segment),
            other => diverged(&format!("preconditioning {workload}"), &other),
        }
    }

    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        match self.next()? {
            Event::Measured(segment) if segment.workload == *workload => Ok(segment),
            other => diverged(&format!("measurement {workload}"), &other),
        }
    }

    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        match self.next()? {
            Event::Idled { length_ns: recorded } if recorded == length_ns => Ok(()),
            other => diverged(&format!("idle of {length_ns} ns"), &other),
        }
    }

    fn note(&mut self, _: Note) -> Result<(), Stop> {
        Ok(())
    }

    fn recorded_health(&self) -> Vec<Health> {
        self.health.clone()
    }
}

/// A run as evaluated by this build.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// One outcome for each started test.
    pub outcomes: Vec<Outcome>,
    /// All deviations from the profile.
    pub modified: Vec<crate::Deviation>,
}

/// Replays and evaluates every started test of a run with this build.
///
/// # Errors
/// Returns an error if this build lacks the profile or a test, or requests other workloads than those recorded.
pub fn replay(run: &RunFile, entries: &[Entry]) -> Result<Replayed, String> {
    if let Some(origin) = &run.origin {
        let outcomes = imported::replay(run, origin, entries)?;
        return Ok(Replayed { outcomes, modified: Vec::new() });
    }
    let context = Context::of(run)?;
    let begun = |name: &String| {
        entries.iter().any(|e| matches!(&e.event, Event::TestStarted { test } if test == name))
    };
    let mut outcomes = Vec::new();
    for name in run.tests.iter().filter(|name| begun(name)) {
        let mut answers = Replay::of(name, entries);
        let limited = host_limit::among(answers.measured());
        let few = few_ios::note(answers.measured());
        let shallow = depth::note(answers.measured());
        let task = Task::named(run, name)?;
        let extended = extended::among(task.title(), answers.workloads(), context.scale_divisor());
        let mut outcome = task.run(&context, &mut answers);
        if let Some(Stop::Diverged(why)) = &outcome.stop {
            return Err(format!("the journal does not match this version of the {name} test: {why}"));
        }
        if let Some(limited) = limited {
            outcome.notes.push(limited.note);
            outcome.host_limited = Some(limited.count);
        }
        outcome.modified.extend(extended);
        outcome.modified.extend(failures::deviations(&failures::failures(name, entries)));
        outcome.modified.extend(modified::by_rounds(&context, &outcome));
        outcome.modified.extend(write_cache::deviation(context.profile, name, entries));
        outcome.notes.extend(few);
        outcome.notes.extend(shallow);
        if outcome.converged == Some(false) {
            outcome.notes.extend(temperature::notes(name, entries));
        }
        outcomes.push(outcome);
    }
    let modified = crate::modifications(run, context.profile, &outcomes);
    Ok(Replayed { outcomes, modified })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Judgement, VariableJudgement};

    fn judged(round: u32, value: f64) -> Note {
        let variable = VariableJudgement {
            name: "RND 4KiB W".into(),
            value,
            range_share: None,
            slope_share: None,
            steady: false,
        };
        Note::Judged(Judgement { round, steady: false, variables: vec![variable] })
    }

    fn replay_of(events: Vec<Event>) -> Replay<'static> {
        let started = Event::TestStarted { test: "iops".into() };
        let entry = |(seq, event)| Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
        let entries: Vec<Entry> = (0..).zip([started].into_iter().chain(events)).map(entry).collect();
        Replay::of("iops", &entries).into_owned()
    }

    #[test]
    fn a_note_is_matched_by_its_position() {
        let next_up = f64::from_bits(21_034.5_f64.to_bits() + 1);
        let mut replay = replay_of(vec![
            Event::Noted(Note::RoundStarted { round: 1, cells: 1 }),
            Event::Noted(judged(1, 1.0)),
            Event::Idled { length_ns: 1 },
            Event::Noted(judged(2, 21_034.5)),
            Event::Noted(Note::RoundStarted { round: 3, cells: 1 }),
        ]);
        assert!(replay.had_noted(&judged(1, 2.0)), "a result follows");
        replay.idle(1).expect("recorded");
        assert!(replay.had_noted(&judged(2, next_up)));
        assert!(!replay.had_noted(&judged(2, next_up)), "each recorded note is matched once");
        assert!(replay.had_noted(&Note::RoundStarted { round: 3, cells: 1 }));
        assert!(!replay.had_noted(&judged(3, 1.0)), "the journal ends before it");
    }

    #[test]
    fn the_end_of_rounds_is_not_recorded_after_the_start_of_others() {
        let started = |round| Event::Noted(Note::RoundStarted { round, cells: 1 });
        for (latest, is_over) in [(1, true), (2, false)] {
            let judgement = Event::Noted(judged(1, 1.0));
            let mut replay = replay_of(vec![Event::Idled { length_ns: 1 }, judgement, started(latest)]);
            replay.idle(1).expect("recorded");
            assert!(replay.had_noted(&judged(1, 1.0)));
            assert_eq!(replay.had_noted(&Note::RoundsEnded), is_over);
            assert!(replay.had_noted(&Note::RoundStarted { round: latest, cells: 1 }));
        }
    }

    #[test]
    fn a_note_that_was_lost_does_not_hide_those_after_it() {
        let restarted = Note::WindowRestarted { first_round: 2 };
        let mut replay = replay_of(vec![Event::Idled { length_ns: 1 }, Event::Noted(judged(2, 1.0))]);
        replay.idle(1).expect("recorded");
        assert!(!replay.had_noted(&restarted));
        assert!(replay.had_noted(&judged(2, 1.0)));
    }
}
