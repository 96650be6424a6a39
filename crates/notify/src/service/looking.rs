//! Observes the library and records the conclusions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use stdx::units::count_of;

use super::apart::unless_stopped;
use super::common::{Report, lock};
use super::error::ServiceError;
use crate::channel::Channel;
use crate::decide::{Conclusion, Jobs, Observed, Rules, decide};
use crate::memory::Memory;
use crate::notice::{Notice, short};
use crate::observe::Observer;

/// Reads the jobs of all campaigns.
pub type ReadJobs = Arc<dyn Fn() -> Jobs + Send + Sync>;

/// Everything needed to observe the library.
pub struct Looking {
    jobs: ReadJobs,
    /// The problems with the jobs that were reported.
    unknown: Vec<String>,
    rules: Rules,
    host: String,
    /// Locked during each observation. After a stop, an abandoned observation may still hold it.
    observer: Arc<Mutex<Observer>>,
    /// Problems that were reported, by run.
    unreadable: BTreeMap<String, String>,
}

impl std::fmt::Debug for Looking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the function.
        f.debug_struct("Looking")
            .field("rules", &self.rules)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

impl Looking {
    pub fn of(rules: Rules, host: &str, library: &Path, jobs: ReadJobs) -> Self {
        let observer = Arc::new(Mutex::new(Observer::of(library)));
        Self { jobs, unknown: Vec::new(), rules, host: short(host), observer, unreadable: BTreeMap::new() }
    }

    /// Observes the library once and records the conclusions. A journal may take minutes to read, so an observation in
    /// progress when `stop` is set is abandoned; it has recorded nothing.
    pub fn look(
        &mut self,
        memory: &Mutex<Memory>,
        channels: &[Channel],
        now: Timestamp,
        stop: &AtomicBool,
        report: Report<'_>,
    ) -> Result<(), ServiceError> {
        if lock(memory).is_new() {
            self.begin(memory, stop, report)?;
        }
        let known = lock(memory).known().clone();
        let (observer, seen) = (Arc::clone(&self.observer), known.clone());
        let look = unless_stopped(stop, move || lock(&observer).look(&seen, now))??;
        let jobs = self.jobs(stop, report)?;
        let observed: Vec<Observed> =
            look.observed.into_iter().filter(|observed| !jobs.supersede(observed)).collect();
        let mut conclusions = decide(&known, &observed, &self.rules);
        conclusions.extend(jobs.decide(&known, now));
        {
            let mut memory = lock(memory);
            memory.forget(jobs.released(&known))?;
            memory.conclude(&conclusions, |conclusion| complete(conclusion, &self.host, now, channels))?;
            memory.compact()?;
        }
        for (run, problem) in &look.unreadable {
            if self.unreadable.get(run) != Some(problem) {
                report(&format!("run {run} is not observed: {problem}"));
            }
        }
        self.unreadable = look.unreadable;
        Ok(())
    }

    /// Returns the jobs of the campaigns, without those that cannot be read.
    fn jobs(&mut self, stop: &AtomicBool, report: Report<'_>) -> Result<Jobs, ServiceError> {
        let read = Arc::clone(&self.jobs);
        let jobs = unless_stopped(stop, move || read())?;
        for text in jobs.unknown.iter().filter(|text| !self.unknown.contains(text)) {
            report(&format!("jobs that are held are not observed: {text}"));
        }
        self.unknown.clone_from(&jobs.unknown);
        Ok(jobs)
    }

    /// Records the runs that had already ended, whatever their state: only later changes are reported.
    fn begin(
        &self,
        memory: &Mutex<Memory>,
        stop: &AtomicBool,
        report: Report<'_>,
    ) -> Result<(), ServiceError> {
        let observer = Arc::clone(&self.observer);
        let past = unless_stopped(stop, move || lock(&observer).ended())??;
        let ended: Vec<(String, u64)> =
            past.iter().map(|past| (past.run.clone(), past.journal_bytes)).collect();
        lock(memory).settle(&ended)?;
        if !past.is_empty() {
            let count = count_of(past.len() as u64, "run");
            report(&format!("first start: {count} that had already ended: not reported"));
        }
        for past in past {
            if let Some(problem) = past.problem {
                report(&format!(
                    "first start: run {} is damaged, which is not reported: {problem}",
                    past.run
                ));
            }
        }
        Ok(())
    }
}

/// Returns the notice for a conclusion, and its channels.
fn complete(
    conclusion: &Conclusion,
    host: &str,
    now: Timestamp,
    channels: &[Channel],
) -> Option<(Notice, Vec<String>)> {
    let (id, about) = conclusion.notice.clone()?;
    let notice = Notice { id, time: now, host: host.into(), run: conclusion.run.clone(), about };
    let its = channels.iter().filter(|channel| channel.is_for(notice.event()));
    let names = its.map(|channel| channel.name().to_owned()).collect();
    Some((notice, names))
}
