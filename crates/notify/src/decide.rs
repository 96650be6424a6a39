//! Which observations cause a notice. Pure: the result depends only on the rules, the current observation and
//! earlier ones.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use crate::notice::{About, Event, Question, Subject};

/// Limits of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A run that shows no activity for this long is stuck.
    pub stuck_after: Duration,
    /// An interrupted run is reported if it has not been continued within this time.
    pub interrupted_after: Duration,
}

/// What is known from earlier observations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The length of the journal of each run that had ended. It shows whether a run has been continued, because
    /// its journal then grows.
    pub ended: BTreeMap<String, u64>,
    /// Ids of notices.
    pub noticed: BTreeSet<String>,
}

impl Known {
    /// Returns whether nothing has happened to a run since it ended.
    #[must_use]
    pub fn is_settled(&self, run: &str, journal_bytes: u64) -> bool {
        self.ended.get(run) == Some(&journal_bytes)
    }
}

/// State of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A process is working on it.
    Running {
        /// Time since the last sign of activity.
        quiet: Duration,
        /// The current phase, if known.
        phase: Option<String>,
    },
    /// No process is working on it.
    Ended {
        /// How the run ended; `None` if nobody is waiting for it, as with an imported run.
        about: Option<About>,
        /// Time since its journal was written.
        since: Duration,
    },
}

/// A run at the time of an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The run.
    pub run: Subject,
    /// Length of the run's journal.
    pub journal_bytes: u64,
    /// State of the run.
    pub state: State,
}

/// A job that the scheduler holds until a person releases it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The run of the job.
    pub run: Subject,
    /// The scheduler's number of the job.
    pub number: u64,
    /// Why it is held.
    pub reason: String,
    /// Length of the job's output. It grows whenever the job starts, but not if the scheduler holds the job before that.
    pub output_bytes: u64,
}

/// The jobs of a scheduler that have not ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jobs {
    /// Those that are held.
    pub held: Vec<Held>,
    /// The runs of all of them. The scheduler continues these runs, or holds their jobs.
    pub queued: BTreeSet<String>,
    /// Why the jobs of some campaigns are unknown. Those of the other campaigns are complete.
    pub unknown: Vec<String>,
}

impl Jobs {
    /// Returns the ids of notices about jobs that are no longer held. If such a job is held again, a person is needed again,
    /// even if the job has not started in the meantime.
    #[must_use]
    pub fn released(&self, known: &Known) -> Vec<String> {
        let held: BTreeSet<&str> = self.held.iter().map(|held| held.run.id.as_str()).collect();
        let is_over = |id: &&String| {
            // The length is 0 while a log cannot be read, so it does not show that a job was released.
            held_by(id).is_some_and(|(run, _)| {
                // A job that is missing may belong to a campaign that cannot be read.
                let is_known = self.unknown.is_empty() || self.queued.contains(run);
                is_known && !held.contains(run)
            })
        };
        known.noticed.iter().filter(is_over).cloned().collect()
    }

    /// Returns whether the library says less about the end of a run than the scheduler does or will: it is interrupted only
    /// until its job starts again.
    #[must_use]
    pub fn supersede(&self, observed: &Observed) -> bool {
        let is_open = matches!(
            observed.state,
            State::Ended { about: Some(About::Interrupted { .. } | About::NeedsPerson { .. }), .. }
        );
        is_open && self.queued.contains(&observed.run.id)
    }

    /// Returns the conclusions about the jobs that are held at `now`, which distinguishes a job that is held again from
    /// the earlier time.
    #[must_use]
    pub fn decide(&self, known: &Known, now: Timestamp) -> Vec<Conclusion> {
        let noticed: BTreeSet<(&str, u64)> = known.noticed.iter().filter_map(|id| held_by(id)).collect();
        let is_new = |held: &&Held| !noticed.contains(&(held.run.id.as_str(), held.output_bytes));
        let conclusion = |held: &Held| {
            let id = format!("{}:{HELD}:{}:{}", held.run.id, held.output_bytes, now.as_millisecond());
            let about = About::NeedsPerson {
                test: None,
                question: Question::Held,
                reason: Some(held.reason.clone()).filter(|reason| !reason.is_empty()),
                job: Some(held.number),
            };
            Conclusion { run: held.run.clone(), settled: None, notice: Some((id, about)) }
        };
        self.held.iter().filter(is_new).map(conclusion).collect()
    }
}

/// Part of the ids of notices about jobs.
const HELD: &str = "held";

/// Returns the run and the length of the output in the id of a notice about a job; `None` for other notices.
#[must_use]
pub fn held_by(id: &str) -> Option<(&str, u64)> {
    let (run, rest) = id.split_once(':')?;
    let mut parts = rest.split(':');
    (parts.next() == Some(HELD)).then_some(())?;
    Some((run, parts.next()?.parse().ok()?))
}

/// A conclusion about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion {
    /// The run.
    pub run: Subject,
    /// Length of the run's journal, if the run has ended and needs no further attention until the journal grows.
    pub settled: Option<u64>,
    /// The notice to send: its id and what it is about.
    pub notice: Option<(String, About)>,
}

/// Returns the conclusions from an observation, in the order of its runs.
#[must_use]
pub fn decide(known: &Known, observed: &[Observed], rules: &Rules) -> Vec<Conclusion> {
    let mut runs = BTreeSet::new();
    let once = observed.iter().filter(|observed| runs.insert(&observed.run.id));
    once.filter_map(|observed| conclude(known, observed, rules)).collect()
}

fn conclude(known: &Known, observed: &Observed, rules: &Rules) -> Option<Conclusion> {
    let Observed { run, journal_bytes, state } = observed;
    let conclusion = |settled, about: Option<&About>| {
        let named = about.map(|about| (id(run, about.event(), *journal_bytes), about.clone()));
        let notice = named.filter(|(id, _)| !known.noticed.contains(id));
        Conclusion { run: run.clone(), settled, notice }
    };
    match state {
        State::Running { quiet, phase } => {
            let about = About::Stuck { quiet_seconds: quiet.as_secs(), phase: phase.clone() };
            let is_stuck = *quiet >= rules.stuck_after;
            is_stuck.then(|| conclusion(None, Some(&about))).filter(|found| found.notice.is_some())
        }
        State::Ended { .. } if known.is_settled(&run.id, *journal_bytes) => None,
        State::Ended { about: Some(About::Interrupted { .. } | About::NeedsPerson { .. }), since }
            if *since < rules.interrupted_after =>
        {
            None
        }
        State::Ended { about, .. } => Some(conclusion(Some(*journal_bytes), about.as_ref())),
    }
}

/// Returns the id of a notice. The journal's length distinguishes a run's interruptions from each other.
fn id(run: &Subject, event: Event, journal_bytes: u64) -> String {
    format!("{}:{}:{journal_bytes}", run.id, event.word())
}

#[cfg(test)]
mod tests;
