//! The bench that answers from a journal: re-judging, reporting, resuming.

use std::collections::VecDeque;

use record::{Entry, Event, Note, Purged, RunFile, Segment, Workload};

use crate::{Bench, Context, Outcome, Stop, Task, few_ios, host_limit, shallow, temperature};

/// Answers a test from what a journal holds of it, then says [`Stop::EndOfJournal`].
#[derive(Debug, Clone)]
pub struct Replay {
    answers: VecDeque<Event>,
    notes: VecDeque<Note>,
}

impl Replay {
    /// The answers that `entries` hold for `test`. A restarted test has only those since its restart.
    #[must_use]
    pub fn of(test: &str, entries: &[Entry]) -> Self {
        let mut replay = Self { answers: VecDeque::new(), notes: VecDeque::new() };
        let mut inside = false;
        for entry in entries {
            match &entry.event {
                Event::TestStarted { test: name } | Event::Restarted { test: name } => {
                    inside = name == test;
                    if inside {
                        replay.answers.clear();
                        replay.notes.clear();
                    }
                }
                Event::TestEnded { .. } => inside = false,
                Event::Noted(note) if inside => replay.notes.push_back(note.clone()),
                Event::Purged(_) | Event::Preconditioned(_) | Event::Measured(_) | Event::Idled { .. }
                    if inside =>
                {
                    replay.answers.push_back(entry.event.clone());
                }
                _ => {}
            }
        }
        replay
    }

    /// No answer is left: the next one must come from elsewhere.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.answers.is_empty()
    }

    /// The measured cells among the answers that are left.
    fn measured(&self) -> impl Iterator<Item = &Segment> {
        self.answers.iter().filter_map(|event| match event {
            Event::Measured(segment) => Some(segment),
            _ => None,
        })
    }

    /// Takes the next recorded note off when it is `note`; says whether it was there.
    pub fn had_noted(&mut self, note: &Note) -> bool {
        let same = self.notes.front() == Some(note);
        if same {
            self.notes.pop_front();
        }
        same
    }

    fn next(&mut self) -> Result<Event, Stop> {
        self.answers.pop_front().ok_or(Stop::EndOfJournal)
    }
}

fn diverged<T>(asked: &str, found: &Event) -> Result<T, Stop> {
    let found = match found {
        Event::Purged(_) => "a purge".to_owned(),
        Event::Preconditioned(s) => format!("preconditioning {}", s.workload),
        Event::Measured(s) => format!("measurement {}", s.workload),
        Event::Idled { length_ns } => format!("idle of {length_ns} ns"),
        _ => "something else".to_owned(),
    };
    Err(Stop::Diverged(format!("it asks for {asked}, the journal has {found}")))
}

impl Bench for Replay {
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
}

/// What a whole run says today.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// One outcome for each test that was begun.
    pub outcomes: Vec<Outcome>,
    /// Everything that departs from the profile.
    pub modified: Vec<String>,
}

/// Replays a run: every test that was begun, judged by this build.
///
/// # Errors
/// When the profile or a test is unknown here, or the journal answers other questions than are asked now.
pub fn replay(run: &RunFile, entries: &[Entry]) -> Result<Replayed, String> {
    if let Some(origin) = &run.origin {
        return crate::imported::replay(run, origin, entries);
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
        let shallow = shallow::note(answers.measured());
        let mut outcome = Task::named(run, name)?.run(&context, &mut answers);
        if let Some(Stop::Diverged(why)) = &outcome.stop {
            return Err(format!("the journal does not fit this version of the {name} test: {why}"));
        }
        if let Some(limited) = limited {
            outcome.notes.push(limited.note);
            outcome.host_limited = Some(limited.count);
        }
        outcome.notes.extend(few);
        outcome.notes.extend(shallow);
        if outcome.converged == Some(false) {
            outcome.notes.extend(temperature::notes(name, entries));
        }
        outcomes.push(outcome);
    }
    let mut modified = crate::modifications(run, context.profile, &outcomes);
    modified.extend(crate::modified::by_write_cache(context.profile, entries));
    Ok(Replayed { outcomes, modified })
}
