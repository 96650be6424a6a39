//! Observes the runs in an untrusted library. It writes nothing, follows no links, and reads a journal only after its
//! run has ended or once the run seems stuck.

mod journals;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use follow::decision::{self, Decision};
use jiff::Timestamp;
use live::{Live, LivePhase};
use pts::{Outcome, Standing};
use record::{Entry, Event, LibraryError, Run, RunFile, gap_ns};

use crate::decide::{Known, Observed, State};
use crate::notice::{About, Failing, Question, Subject, Verdict, short};
use journals::{Journal, Journals};

/// Why a library cannot be observed.
#[derive(Debug, thiserror::Error)]
#[error("cannot list the library {}", path.display())]
pub struct ObserveError {
    /// The library.
    pub path: PathBuf,
    /// The underlying error.
    pub source: std::io::Error,
}

/// The result of an observation.
#[derive(Debug, Default)]
pub struct Look {
    /// Runs that deserve attention.
    pub observed: Vec<Observed>,
    /// Runs that this process could not read and that may be in progress, each with the reason.
    pub unreadable: BTreeMap<String, String>,
}

/// A run that had ended before anything was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// Id of the run.
    pub run: String,
    /// Length of its journal.
    pub journal_bytes: u64,
    /// Why its `run.json` cannot be read, if it is damaged.
    pub problem: Option<String>,
}

/// Observes a library.
#[derive(Debug)]
pub struct Observer {
    root: PathBuf,
    journals: Journals,
    /// Each run in progress, with its latest activity and the time of that activity.
    active: BTreeMap<String, (Activity, Timestamp)>,
}

/// What changes while a run makes progress.
#[derive(Debug, Clone, PartialEq)]
struct Activity {
    journal_bytes: u64,
    /// End of the last second that had I/Os, if a load is running.
    load: Option<f64>,
    /// In phases without a load, the time at which the run reported its state, which is then the only sign of
    /// progress.
    report: Option<Timestamp>,
    phase: Option<LivePhase>,
}

impl Activity {
    fn of(journal_bytes: u64, live: Option<&Live>) -> Self {
        let phase = live.and_then(|live| live.phase);
        let is_load = matches!(phase, Some(LivePhase::Precondition | LivePhase::Cell | LivePhase::Load));
        let moving = live.and_then(|live| live.seconds.iter().rev().find(|second| second.iops > 0.0));
        Self {
            journal_bytes,
            load: moving.map(|second| second.elapsed_seconds).filter(|_| is_load),
            report: live.map(|live| live.time).filter(|_| !is_load),
            phase,
        }
    }
}

impl Observer {
    /// Returns an observer of the library at `root`, which need not yet exist.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        Self { root: root.into(), journals: Journals::of(root), active: BTreeMap::new() }
    }

    /// Examines all runs, oldest first.
    ///
    /// # Errors
    /// Returns an error if the library cannot be listed.
    pub fn look(&mut self, known: &Known, now: Timestamp) -> Result<Look, ObserveError> {
        let mut look = Look::default();
        let mut active = BTreeMap::new();
        let names = self.names()?;
        self.journals.forget_removed();
        for name in &names {
            match self.run(name, known, now, &mut active) {
                Ok(found) => look.observed.extend(found),
                Err(problem) => drop(look.unreadable.insert(name.clone(), problem)),
            }
        }
        self.active = active;
        look.observed.sort_by(|a, b| (a.run.created, &a.run.id).cmp(&(b.run.created, &b.run.id)));
        Ok(look)
    }

    /// Returns the runs that have ended, without reading their journals.
    ///
    /// # Errors
    /// Returns an error if the library cannot be listed.
    pub fn ended(&mut self) -> Result<Vec<Past>, ObserveError> {
        Ok(self.names()?.into_iter().filter_map(|name| self.past(name)).collect())
    }

    fn past(&mut self, name: String) -> Option<Past> {
        let Journal { place, bytes: journal_bytes, .. } = self.journals.journal(&name).ok()??;
        match Run::open(&place) {
            Ok(run) => {
                // If in doubt, the run may be in progress.
                let has_ended = run.is_in_progress().is_ok_and(|is_in_progress| !is_in_progress);
                let is_its = run.file.id == name && has_ended;
                is_its.then_some(Past { run: name, journal_bytes, problem: None })
            }
            Err(error) => {
                let problem = is_of_run(&error).then(|| short(&stdx::text::with_causes(&error)));
                problem.map(|problem| Past { run: name, journal_bytes, problem: Some(problem) })
            }
        }
    }

    fn names(&self) -> Result<BTreeSet<String>, ObserveError> {
        self.journals.names().map_err(|source| ObserveError { path: self.root.clone(), source })
    }

    fn run(
        &mut self,
        name: &str,
        known: &Known,
        now: Timestamp,
        active: &mut BTreeMap<String, (Activity, Timestamp)>,
    ) -> Result<Option<Observed>, String> {
        let Some(journal) = self.journals.journal(name)? else { return Ok(None) };
        if known.is_settled(name, journal.bytes) {
            return Ok(None);
        }
        let run = match Run::open(&journal.place) {
            // A copy of a directory within the library is not another run.
            Ok(run) if run.file.id != name => return Ok(None),
            Ok(run) => run,
            Err(error) => return unopened(name, &journal, now, &error),
        };
        let subject = Subject::of(&run.file);
        let is_in_progress = || run.is_in_progress().map_err(|error| stdx::text::with_causes(&error));
        if is_in_progress()? {
            let running = self.running(&run, &journal, now, active);
            return Ok(Some(Observed { run: subject, journal_bytes: journal.bytes, state: running }));
        }
        let about = ended(&run);
        // The run may have continued, or been archived, while it was read; the next observation shows its new
        // state.
        let is_same = self.journals.journal(name)?.is_some_and(|again| again == journal);
        if !is_same || is_in_progress()? {
            return Ok(None);
        }
        let since = Duration::from_nanos(gap_ns(journal.modified, now));
        let state = State::Ended { about: about?, since };
        Ok(Some(Observed { run: subject, journal_bytes: journal.bytes, state }))
    }

    fn running(
        &self,
        run: &Run,
        journal: &Journal,
        now: Timestamp,
        active: &mut BTreeMap<String, (Activity, Timestamp)>,
    ) -> State {
        let live = Live::of(run).unwrap_or_default();
        let activity = Activity::of(journal.bytes, live.as_ref());
        let since = match self.active.get(&run.file.id) {
            Some((before, since)) if *before == activity => *since,
            Some(_) => now,
            None => live.as_ref().map_or(journal.modified, |live| live.time.max(journal.modified)).min(now),
        };
        active.insert(run.file.id.clone(), (activity, since));
        let phase = live.and_then(|live| {
            let round = live.round.map(|round| format!("round {round}"));
            let parts = [live.test, round, live.step].into_iter().flatten().collect::<Vec<_>>();
            (!parts.is_empty()).then(|| short(&parts.join(", ")))
        });
        State::Running { quiet: Duration::from_nanos(gap_ns(since, now)), phase }
    }
}

/// Returns a run that cannot be opened as a failed run if the run itself is the cause; otherwise, returns the
/// problem.
fn unopened(
    name: &str,
    journal: &Journal,
    now: Timestamp,
    error: &LibraryError,
) -> Result<Option<Observed>, String> {
    let problem = short(&stdx::text::with_causes(error));
    if !is_of_run(error) {
        return Err(problem);
    }
    let since = Duration::from_nanos(gap_ns(journal.modified, now));
    let about = Some(About::Failed(Failing::Unreadable { problem }));
    let state = State::Ended { about, since };
    Ok(Some(Observed { run: Subject::unknown(name), journal_bytes: journal.bytes, state }))
}

/// Returns whether an error concerns a run's content rather than access to it.
const fn is_of_run(error: &LibraryError) -> bool {
    matches!(
        error,
        LibraryError::BadRunFile { .. }
            | LibraryError::ChangedRunFile { .. }
            | LibraryError::Journal(
                record::JournalError::Damaged { .. } | record::JournalError::NotAJournal { .. }
            )
    )
}

/// Returns how a run ended; `None` if nobody is waiting for it.
fn ended(run: &Run) -> Result<Option<About>, String> {
    if run.file.origin.is_some() {
        return Ok(None);
    }
    let copied = OsStr::new(transfer::COPIED);
    let is_copy = run.file_names().is_ok_and(|names| names.iter().any(|name| name == copied));
    let loaded = match run.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            let problem = short(&stdx::text::with_causes(&error));
            let failing = || Some(About::Failed(Failing::Unreadable { problem: problem.clone() }));
            return if is_of_run(&error) { Ok(failing()) } else { Err(problem) };
        }
    };
    let about = match pts::replay(&run.file, &loaded.entries) {
        Ok(replayed) => ending(&run.file, &loaded.entries, &replayed.outcomes, replayed.modified.len()),
        Err(problem) => About::Failed(Failing::Unreadable { problem: short(&problem) }),
    };
    // An incomplete copy reveals nothing about the original, which may be in progress.
    let is_final = matches!(about, About::Finished { .. });
    Ok(Some(about).filter(|_| is_final || !is_copy))
}

/// Returns how a run ended; no process may be working on the run. Pure.
fn ending(file: &RunFile, entries: &[Entry], outcomes: &[Outcome], deviations: usize) -> About {
    let standing = Standing::of(entries, outcomes, false);
    if let Some(verdict) = Verdict::of(standing) {
        let mut accepted = outcomes.iter().filter_map(|outcome| outcome.acceptance.as_ref()).peekable();
        let accepted =
            accepted.peek().is_some().then(|| accepted.all(|acceptance| acceptance.reasons.is_empty()));
        return About::Finished { verdict, deviations: deviations as u64, accepted };
    }
    if entries.iter().any(|entry| matches!(entry.event, Event::Closed)) {
        let stop = outcomes.iter().find_map(|outcome| outcome.stop.as_ref());
        let reason = stop.map_or_else(String::new, |stop| short(&stop.to_string()));
        return About::Failed(Failing::Incomplete { reason });
    }
    let continued = entries.iter().rposition(|entry| matches!(entry.event, Event::Resumed { .. }));
    let latest = &entries[continued.unwrap_or(0)..];
    let reason = latest.iter().rev().find_map(|entry| match &entry.event {
        Event::Interrupted { reason } => Some(short(reason)),
        _ => None,
    });
    let test = interrupted_test(entries);
    if latest.iter().any(|entry| matches!(entry.event, Event::Cut(_))) {
        return About::Failed(Failing::Drive { test, reason });
    }
    let question = match decision::needed(file, entries) {
        Some((_, Decision::Timeline)) => Question::Timeline,
        Some((_, Decision::Array)) => Question::Array,
        None if decision::fruitless(entries) >= decision::MOST_FRUITLESS => Question::Fruitless,
        None => return About::Interrupted { test, reason },
    };
    About::NeedsPerson { test, question, reason, job: None }
}

/// Returns the test that has started but not ended.
fn interrupted_test(entries: &[Entry]) -> Option<String> {
    let latest = entries.iter().rev().find_map(|entry| match &entry.event {
        Event::TestStarted { test } | Event::Restarted { test } => Some(Some(test)),
        Event::TestEnded { .. } => Some(None),
        _ => None,
    });
    latest.flatten().map(|test| short(test))
}

#[cfg(test)]
mod tests;
