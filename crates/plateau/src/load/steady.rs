//! The searches for steady state, one per job in a stage.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use engine::Tick;
use fio::Job;
use fio::steady::{Search, SteadyResult};
use record::Workload;

/// The searches, by the job's position.
pub struct Searches(BTreeMap<usize, Mutex<Search>>);

impl Searches {
    /// Returns the searches for these jobs.
    pub fn of(jobs: &[Job], stage: &[usize], workloads: &[Vec<Workload>]) -> Self {
        let search = |job: &usize| {
            let state = jobs[*job].steady_state().ok().flatten()?;
            Some((*job, Mutex::new(Search::new(state, workloads[*job].len()))))
        };
        Self(stage.iter().filter_map(search).collect())
    }

    /// Adds the progress of one of a target's streams; `owners` are the jobs that the streams belong to. Returns
    /// whether the stream's job is steady.
    pub fn add(&self, owners: &[usize], stream: usize, tick: &Tick) -> bool {
        let search = self.0.get(&owners[stream]);
        let stream = owners[..stream].iter().filter(|owner| **owner == owners[stream]).count();
        search.is_some_and(|search| search.lock().unwrap_or_else(PoisonError::into_inner).add(stream, tick))
    }

    /// Returns the results, by the job's position.
    pub fn results(self) -> impl Iterator<Item = (usize, SteadyResult)> {
        let inner = |search: Mutex<Search>| search.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.0.into_iter().map(move |(job, search)| (job, inner(search).result()))
    }
}
