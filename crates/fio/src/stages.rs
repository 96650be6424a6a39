//! Which jobs run at the same time.

use std::collections::BTreeMap;

use super::Job;
use super::depth_search::check_targets;
use super::file_operations::check_lengths;
use super::ties::check_ties;

/// Returns the positions of concurrent jobs, one list per consecutive stage.
///
/// # Errors
/// If the `wait_for` of a job does not name a preceding job, returns the position of that job and a description
/// of the problem.
pub fn stages(jobs: &[Job]) -> Result<Vec<Vec<usize>>, (usize, String)> {
    let mut stages: Vec<Vec<usize>> = Vec::new();
    let mut stage_of: Vec<usize> = Vec::with_capacity(jobs.len());
    let mut earliest = 0;
    for (index, job) in jobs.iter().enumerate() {
        if job.stonewall && !job.continues {
            earliest = stages.len();
        }
        let awaited = match &job.wait_for {
            None => 0,
            Some(name) => {
                let named = jobs[..index].iter().zip(&stage_of).filter(|(other, _)| other.name == *name);
                let after = named.map(|(_, stage)| stage + 1).max();
                after.ok_or_else(|| {
                    (index, format!("wait_for={name}: no job with this name precedes this one"))
                })?
            }
        };
        let stage = match stage_of.last() {
            Some(stage) if job.continues => *stage,
            _ => awaited.max(earliest),
        };
        if stage == stages.len() {
            stages.push(Vec::new());
        }
        stages[stage].push(index);
        stage_of.push(stage);
    }
    Ok(stages)
}

/// Checks that the jobs of each stage can run concurrently.
///
/// # Errors
/// Returns the position of a job that cannot, and a description of the problem.
pub fn check_stages(jobs: &[Job], stages: &[Vec<usize>]) -> Result<(), (usize, String)> {
    check_delays(jobs, stages)?;
    check_targets(jobs, stages)?;
    check_lengths(jobs)?;
    check_ties(jobs)
}

/// Checks that all concurrent jobs of a target start at the same time, because they share its queues.
fn check_delays(jobs: &[Job], stages: &[Vec<usize>]) -> Result<(), (usize, String)> {
    for stage in stages {
        let mut delays: BTreeMap<Option<&str>, u64> = BTreeMap::new();
        for &index in stage {
            let job = &jobs[index];
            let delay_ns = *delays.entry(job.filename.as_deref()).or_insert(job.start_delay_ns);
            if delay_ns != job.start_delay_ns {
                let text = "startdelay differs from other jobs of the same target; concurrent jobs of a target start together";
                return Err((index, text.to_owned()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};

    fn stages(text: &str) -> Result<Vec<Vec<usize>>, (usize, String)> {
        let text = format!("[global]\nfilename=d\n{text}");
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options");
        let jobs: Vec<Job> = jobs.into_iter().flat_map(|job| job.expanded().expect("targets")).collect();
        super::stages(&jobs)
    }

    #[test]
    fn stonewalls_make_stages() {
        assert_eq!(stages("[a]\n[b]\n[c]\nstonewall\n[d]\n").unwrap(), [vec![0, 1], vec![2, 3]]);
        assert_eq!(stages("[a]\nstonewall\n[b]\n").unwrap(), [[0, 1]]);
        assert_eq!(stages("stonewall\n[a]\n[b]\n").unwrap(), [[0], [1]]);
        let targets = "[a]\nfilename=x:y\n[b]\nstonewall\nfilename=x:y\n";
        assert_eq!(stages(targets).unwrap(), [[0, 1], [2, 3]]);
    }

    #[test]
    fn a_job_that_waits_for_another_is_in_a_later_stage() {
        let chain = "[a]\n[b]\nwait_for=a\n[c]\n[d]\nwait_for=b\n[e]\nstonewall\n";
        assert_eq!(stages(chain).unwrap(), [vec![0, 2], vec![1], vec![3], vec![4]]);
        let (job, error) = stages("[a]\nwait_for=b\n[b]\n").unwrap_err();
        assert!(job == 0 && error.contains("wait_for=b: no job"), "{error}");
    }
}
