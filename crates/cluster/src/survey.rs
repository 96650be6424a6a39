//! What became of a campaign's jobs.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use failure::{Done, Exit, Failure};
use fleet::{Job, Place, Queued, State, Stored, at, state};
use jiff::Timestamp;
use output::summary::Summary;
use pts::Standing;
use record::{Detail, Entry, Event, Library, Run};
use stdx::files::Links;

use crate::files::{campaign, read_inventory};
use crate::scheduler::{self, Queue, Whose};

/// Number of bytes at the end of a job's output that are searched for its last message.
const TAIL_BYTES: u64 = 4096;

/// The jobs of a campaign, and their states.
pub struct Survey {
    /// Name of the campaign.
    pub name: String,
    /// Why the queue is unknown; `None` if it is known.
    pub note: Option<String>,
    /// The jobs, in the order in which they are submitted.
    pub jobs: Vec<(Job, State)>,
}

/// A job of a campaign that is in the queue.
pub struct InQueue {
    /// The job.
    pub job: Job,
    /// Its number.
    pub number: u64,
    /// Why it is held; `None` if it is not.
    pub held: Option<String>,
    /// Length of its output, which grows each time that it starts.
    pub output_bytes: u64,
}

/// The places that say what became of a campaign.
pub struct Surveyor {
    /// The campaign's file.
    pub campaign: PathBuf,
    /// The inventory of the drives.
    pub inventory: PathBuf,
    /// Folder with the jobs' output.
    pub logs: PathBuf,
    /// The library that contains the runs.
    pub library: Library,
    /// Whose jobs belong to the campaign.
    pub whose: Whose,
    /// Complete runs, which are read only once: when each was created, and what it is.
    over: Mutex<BTreeMap<String, (Timestamp, Stored)>>,
}

impl Surveyor {
    /// Returns a surveyor that has not read anything yet.
    #[must_use]
    pub const fn of(
        campaign: PathBuf,
        inventory: PathBuf,
        logs: PathBuf,
        library: Library,
        whose: Whose,
    ) -> Self {
        Self { campaign, inventory, logs, library, whose, over: Mutex::new(BTreeMap::new()) }
    }

    /// Returns the current state of each job.
    ///
    /// # Errors
    /// Returns an error if the campaign or the inventory cannot be read, or if the output of `squeue` has a different
    /// format.
    pub fn survey(&self) -> Done<Survey> {
        let inventory = read_inventory(&self.inventory)?;
        let (campaign, jobs) = campaign(&self.campaign, &inventory)?;
        let (queued, note) = match scheduler::queued(self.whose)? {
            Queue::Known(queued) => (Some(queued), None),
            Queue::Absent => {
                (None, Some("this host has no squeue: jobs in the queue are unknown".to_owned()))
            }
            Queue::Unknown(message) => {
                (None, Some(format!("squeue failed: jobs in the queue are unknown: {message}")))
            }
        };
        let jobs = jobs.into_iter().map(|job| {
            let state = self.state(&job, queued.as_deref());
            (job, state)
        });
        Ok(Survey { name: campaign.name, note, jobs: jobs.collect() })
    }

    /// Returns the jobs of the campaign that are in the queue, without reading the library.
    ///
    /// # Errors
    /// Returns an error if the campaign or the inventory cannot be read, or if Slurm does not answer.
    pub fn in_queue(&self) -> Done<Vec<InQueue>> {
        let (_, jobs) = campaign(&self.campaign, &read_inventory(&self.inventory)?)?;
        let queued = match scheduler::queued(self.whose)? {
            Queue::Known(queued) => queued,
            Queue::Absent => return Err(Failure::text(Exit::Run, "this host has no squeue")),
            Queue::Unknown(message) => return Err(scheduler::failed("squeue", &message)),
        };
        let in_queue = |job: Job| {
            let queued = queued.iter().find(|queued| queued.name == job.id)?;
            let output = self.output(&job.id);
            let output_bytes = std::fs::metadata(&output).map_or(0, |found| found.len());
            let place = at(queued);
            let said = last_message(&output);
            // A job that has said nothing was held by a person.
            let is_by_person = place.is_held_without_reason() && said.is_empty();
            let held = match place {
                Place::Held(_) if is_by_person => None,
                Place::Held(reason) if said.is_empty() => Some(reason),
                Place::Held(_) => Some(said),
                _ => None,
            };
            Some(InQueue { number: queued.number, job, held, output_bytes })
        };
        Ok(jobs.into_iter().filter_map(in_queue).collect())
    }

    fn output(&self, id: &str) -> PathBuf {
        self.logs.join(format!("{id}.log"))
    }

    fn state(&self, job: &Job, queue: Option<&[Queued]>) -> State {
        let place = queue.unwrap_or_default().iter().find(|queued| queued.name == job.id).map(at);
        let said = || last_message(&self.output(&job.id));
        state(place, queue.is_some(), || self.stored(&job.id), said)
    }

    fn stored(&self, id: &str) -> Stored {
        if !self.library.has(id) {
            return Stored::Missing;
        }
        let run = match self.library.open(id) {
            Ok(run) => run,
            Err(error) => return Stored::Unreadable(Failure::from(error).message()),
        };
        let created = run.file.created;
        let over = || self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, stored)) = over().get(id).filter(|(known, _)| *known == created) {
            return stored.clone();
        }
        let stored = read(run);
        if matches!(stored, Stored::Complete(_) | Stored::Rejected) {
            over().insert(id.to_owned(), (created, stored.clone()));
        }
        stored
    }
}

/// The test whose verdict on the drive is not recorded, because it depends on the whole journal.
const BURN_IN: &str = "burn-in";

/// Determines the state of a complete run from the verdicts that it recorded at the end of its tests, without evaluating
/// them again; `None` if the run is not complete, or if they do not decide it.
fn recorded(is_imported: bool, tests: &[String], entries: &[Entry]) -> Option<Standing> {
    let is_closed = entries.iter().any(|entry| matches!(entry.event, Event::Closed));
    if !is_closed || is_imported || tests.is_empty() || tests.iter().any(|test| test == BURN_IN) {
        return None;
    }
    let ended = |name: &String| {
        entries.iter().rev().find_map(|entry| match &entry.event {
            Event::TestEnded { test, converged } if test == name => Some(*converged),
            _ => None,
        })
    };
    let converged: Vec<Option<bool>> = tests.iter().map(ended).collect::<Option<_>>()?;
    Some(if converged.contains(&Some(false)) {
        Standing::Unsteady
    } else if converged.contains(&Some(true)) {
        Standing::Steady
    } else {
        Standing::Complete
    })
}

/// Reads the journal of a run, once, and evaluates the run unless its verdicts are recorded.
fn read(run: Run) -> Stored {
    // Check this before loading the journal; otherwise, a run that completed in the meantime would be shown as
    // interrupted.
    let is_in_progress = run.is_in_progress().unwrap_or(false);
    let loaded = match run.load_detail(Detail::Conclusions) {
        Err(error) => return Stored::Unreadable(Failure::from(error).message()),
        Ok(loaded) => loaded,
    };
    if let Some(standing) = recorded(run.file.origin.is_some(), &run.file.tests, &loaded.entries) {
        return Stored::Complete(standing.verdict().into());
    }
    match Summary::read(run, loaded, is_in_progress) {
        Err(failure) => Stored::Unreadable(failure.message()),
        Ok(summary) => match summary.standing() {
            Standing::Running => Stored::Running(summary.in_progress().unwrap_or_default()),
            Standing::Incomplete => Stored::Incomplete,
            _ if summary.is_rejected() => Stored::Rejected,
            standing => Stored::Complete(standing.verdict().into()),
        },
    }
}

/// Returns the last error in a job's output; empty if there is none.
fn last_message(log: &Path) -> String {
    let tail = || {
        let mut file = stdx::files::open(log, Links::Refused).ok()?;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let tail = tail().unwrap_or_default();
    tail.lines().rev().find_map(|line| line.strip_prefix("plateau: ")).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complete_run_is_what_its_tests_recorded_unless_that_does_not_decide_it() {
        assert!(pts::Test::named(BURN_IN).is_ok());
        let entries = |ended: &[(&str, Option<bool>)], is_closed: bool| -> Vec<Entry> {
            let ended = ended.iter().map(|(test, converged)| Event::TestEnded {
                test: (*test).to_owned(),
                converged: *converged,
            });
            let events = ended.chain(is_closed.then_some(Event::Closed));
            (0..).zip(events).map(|(seq, event)| Entry { seq, wall: Timestamp::UNIX_EPOCH, event }).collect()
        };
        let of = |ended: &[(&str, Option<bool>)]| {
            let tests: Vec<String> = ended.iter().map(|(test, _)| (*test).to_owned()).collect();
            recorded(false, &tests, &entries(ended, true))
        };
        assert_eq!(of(&[("iops", Some(true)), ("hir", None)]), Some(Standing::Steady));
        assert_eq!(of(&[("iops", Some(true)), ("tp-128", Some(false))]), Some(Standing::Unsteady));
        assert_eq!(of(&[("hir", None)]), Some(Standing::Complete));
        assert_eq!(of(&[("iops", Some(true)), (BURN_IN, None)]), None, "its verdict is not recorded");
        let both = ["iops", "hir"].map(str::to_owned);
        let one = [("iops", Some(true))];
        assert_eq!(recorded(false, &both, &entries(&one, true)), None, "a test has not ended");
        assert_eq!(recorded(false, &both[..1], &entries(&one, false)), None, "it is not complete");
        assert_eq!(recorded(true, &both[..1], &entries(&one, true)), None, "it was imported");
    }
}
