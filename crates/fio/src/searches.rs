//! The searches for steady state, one per job in a stage. A job with several targets was split into several jobs, which
//! are evaluated together.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use engine::Tick;
use record::Workload;

use super::Job;
use super::steady::{Search, SteadyResult};

/// The searches, by the job's position.
#[derive(Debug)]
pub struct Searches {
    /// The searches, by the first of the jobs that are evaluated together.
    searches: BTreeMap<usize, Mutex<Search>>,
    /// For each job, the first of these jobs, and the number of streams of those before it.
    places: BTreeMap<usize, (usize, usize)>,
}

impl Searches {
    /// Returns the searches for the jobs of a stage.
    #[must_use]
    pub fn of(jobs: &[Job], stage: &[usize], workloads: &[Vec<Workload>]) -> Self {
        let mut streams: BTreeMap<usize, usize> = BTreeMap::new();
        let mut places = BTreeMap::new();
        let mut first = 0;
        for &job in stage {
            if !jobs[job].continues {
                first = job;
            }
            let before = streams.entry(first).or_default();
            places.insert(job, (first, *before));
            *before += workloads[job].len();
        }
        let search = |(job, streams): (usize, usize)| {
            let state = jobs[job].steady_state().ok().flatten()?;
            Some((job, Mutex::new(Search::new(state, streams))))
        };
        Self { searches: streams.into_iter().filter_map(search).collect(), places }
    }

    /// Adds the progress of one of a target's streams; `owners` are the jobs that the streams belong to. Returns
    /// whether the stream's job is steady.
    pub fn add(&self, owners: &[usize], stream: usize, tick: &Tick) -> bool {
        let Some((first, before)) = self.places.get(&owners[stream]) else { return false };
        let stream = before + owners[..stream].iter().filter(|owner| **owner == owners[stream]).count();
        let search = self.searches.get(first);
        search.is_some_and(|search| search.lock().unwrap_or_else(PoisonError::into_inner).add(stream, tick))
    }

    /// Returns the results, by the position of the first of the jobs that were evaluated together.
    pub fn results(self) -> impl Iterator<Item = (usize, SteadyResult)> {
        let inner = |search: Mutex<Search>| search.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.searches.into_iter().map(move |(job, search)| (job, inner(search).result()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Surroundings, parse};

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn all_targets_of_a_job_are_evaluated_together() {
        let text = "[other]\nfilename=x\n[both]\nfilename=a:b\nrw=randread\nrate_iops=1000\nruntime=60\ntime_based\n\
                    steadystate=iops:50%\nsteadystate_duration=2\n";
        let jobs = parse("x", text, &Job::default(), &Surroundings::none()).expect("jobs");
        let jobs: Vec<Job> = jobs.into_iter().flat_map(|job| job.expanded().expect("targets")).collect();
        let workloads: Vec<Vec<Workload>> =
            jobs.iter().map(|job| job.streams(1 << 30, 0, 1).expect("a load")).collect();
        let searches = Searches::of(&jobs, &[0, 1, 2], &workloads);
        let add = |job: usize, second: u64| {
            let tick = Tick {
                elapsed_ns: second * SECOND_NS,
                interval_ns: SECOND_NS,
                read_ios: 500,
                write_ios: 0,
                syncs: 0,
                bytes: 500 * 4096,
                latency_mean_ns: 1000,
                latency_max_ns: 1000,
                share_done: 0.0,
            };
            searches.add(&[job], 0, &tick)
        };
        // One target alone is not evaluated; both end at the same time.
        assert_eq!([add(1, 1), add(1, 2), add(2, 1), add(0, 1)], [false; 4]);
        assert_eq!([add(2, 2), add(1, 3), add(0, 2)], [true, true, false]);
        let results: Vec<(usize, SteadyResult)> = searches.results().collect();
        assert_eq!(results.iter().map(|(job, _)| *job).collect::<Vec<_>>(), [1]);
        let (_, result) = results.into_iter().next().expect("a result");
        assert!((result.iops_mean() - 1000.0).abs() < 1e-6, "{result}");
    }
}
