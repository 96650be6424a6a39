//! Options that make concurrent jobs depend on each other: `exitall` and `flow`.

use std::collections::BTreeMap;

use engine::{Exits, Portion, Proportion, StreamOptions};
use record::Workload;

use super::Job;
use super::tie::{ExitWhat, Tie};

/// Returns whether jobs end with others. As in fio, one job that requests this is sufficient.
fn any_exits(jobs: &[Job]) -> bool {
    jobs.iter().any(|job| job.tie.exit_all)
}

/// Returns the group of each job: `stonewall` and `new_group` begin a new one.
fn groups(jobs: &[Job]) -> Vec<usize> {
    let mut group = 0;
    let begins =
        |(index, job): (usize, &Job)| index > 0 && !job.continues && (job.stonewall || job.new_group);
    let number = |(index, job)| {
        group += usize::from(begins((index, job)));
        group
    };
    jobs.iter().enumerate().map(number).collect()
}

/// Checks that the options can be combined with those of the same job.
///
/// # Errors
/// Returns the position of a job with options that cannot be combined, and a description of the problem.
pub fn check_ties(jobs: &[Job]) -> Result<(), (usize, String)> {
    for (index, job) in jobs.iter().enumerate() {
        let is_simulated = job.filename.as_deref().is_some_and(|name| name.starts_with("sim:"));
        let problem = match () {
            () if any_exits(jobs) && is_simulated => {
                "exitall has no meaning for a simulated drive, which has its own time; use a real target"
            }
            () if any_exits(jobs) && job.start_delay_ns > 0 => {
                "exitall cannot be combined with startdelay: another job could end this one before it starts"
            }
            () if job.tie.weight > 0 && is_simulated => {
                "flow is not supported on simulated drives; use a real target"
            }
            () if job.tie.weight > 0 && (job.rate_iops.is_some() || job.rate_bytes.is_some()) => {
                "flow cannot be combined with a rate, because a schedule does not wait"
            }
            () => continue,
        };
        return Err((index, problem.to_owned()));
    }
    Ok(())
}

/// Returns whether the jobs of later stages do not start, because the end of a job of this stage ends all jobs.
#[must_use]
pub fn ends_all(jobs: &[Job], stage: &[usize]) -> bool {
    any_exits(jobs) && stage.iter().any(|job| jobs[*job].tie.exit_what == ExitWhat::All)
}

/// What the concurrent streams of a stage share.
#[derive(Debug)]
pub struct Ties {
    exits: Option<Exits>,
    /// By `flow_id`.
    proportions: BTreeMap<u32, Proportion>,
}

impl Ties {
    /// Returns what these streams share, each given with its job.
    #[must_use]
    pub fn of(jobs: &[Job], streams: &[(usize, &Workload)]) -> Self {
        let groups = groups(jobs);
        let ends = |first: usize| -> Vec<usize> {
            let of_group = jobs[first].tie.exit_what == ExitWhat::Group;
            let ends = |other: &usize| !of_group || groups[streams[*other].0] == groups[first];
            (0..streams.len()).filter(ends).collect()
        };
        let exits = any_exits(jobs).then(|| Exits::new(streams.iter().map(|(job, _)| ends(*job)).collect()));
        let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
        for (job, workload) in streams {
            let tie = jobs[*job].tie;
            *weights.entry(tie.flow_id).or_default() += u64::from(tie.weight) * u64::from(workload.threads);
        }
        let proportions = weights.into_iter().map(|(id, sum)| (id, Proportion::new(sum))).collect();
        Self { exits, proportions }
    }

    /// Returns the options of a stream; `position` is its position among all streams of the stage.
    #[must_use]
    pub fn options(&self, job: &Job, position: usize, manner: usize) -> StreamOptions<'_> {
        let Tie { weight, flow_id, sleep_ns, .. } = job.tie;
        let portion = self.proportions.get(&flow_id).filter(|_| weight > 0);
        StreamOptions {
            read_back: job.do_verify,
            manner,
            exits: self.exits.as_ref().map(|exits| (exits, position)),
            portion: portion.map(|of| Portion { of, weight, sleep_ns }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Surroundings, parse};

    fn jobs(text: &str) -> Vec<Job> {
        let jobs = parse("x", text, &Job::default(), &Surroundings::none()).expect("known options");
        jobs.into_iter().flat_map(|job| job.expanded().expect("targets")).collect()
    }

    #[test]
    fn groups_begin_as_in_fio() {
        let text = "[global]\nfilename=x:y\n[a]\nnew_group\n[b]\n[c]\nstonewall\nnew_group\n[d]\nnew_group\n";
        assert_eq!(groups(&jobs(text)), [0, 0, 0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn impossible_combinations_are_refused() {
        for (options, expected) in [
            ("exitall\nstartdelay=1", "startdelay"),
            ("exitall\nfilename=sim:sas-slc-2011", "simulated"),
            ("flow=1\nfilename=sim:sas-slc-2011", "simulated"),
            ("flow=1\nrate_iops=5", "a rate"),
        ] {
            let (job, error) = check_ties(&jobs(&format!("[a]\nfilename=y\n[b]\nfilename=x\n{options}\n")))
                .expect_err(expected);
            assert!(job == 1 && error.contains(expected), "{error}");
        }
        assert!(check_ties(&jobs("[a]\nfilename=y\nexitall=0\nstartdelay=1\nflow=0\nrate_iops=4\n")).is_ok());
    }

    #[test]
    fn only_one_kind_of_exit_prevents_later_jobs() {
        for (options, all) in [
            ("exitall", false),
            ("exitall\nexit_what=stonewall", false),
            ("exitall\nexit_what=all", true),
            ("exit_what=all", false),
        ] {
            assert_eq!(ends_all(&jobs(&format!("[a]\nfilename=x\n{options}\n[b]\nfilename=x\n")), &[0]), all);
        }
    }
}
