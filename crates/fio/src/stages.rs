//! Which jobs run at the same time.

use super::Job;

/// Returns the positions of concurrent jobs, one list per consecutive stage.
///
/// # Errors
/// Returns the position of a job that waits for one that is not before it, with the problem.
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
                    (index, format!("wait_for={name}: no job with this name is before this one"))
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
