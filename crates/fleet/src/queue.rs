//! The scheduler's list of jobs.

use std::collections::BTreeMap;

use crate::error::{FleetError, invalid};

/// Format of `squeue` that [`queue`] reads, with one line for each task of an array: number, task index, name, state,
/// generic resources, reason or nodes.
pub const SQUEUE_FORMAT: &str = "%A|%K|%j|%T|%b|%R";

/// A job in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// Number of the job.
    pub number: u64,
    /// Name of the job, which is the id of its run.
    pub name: String,
    /// State in Slurm's words, such as `PENDING`.
    pub state: String,
    /// The drive that the job uses, as [`Drive::gres`](crate::Drive::gres) names it; empty if there is none.
    pub drive: String,
    /// The nodes on which the job runs, or the reason why it is pending.
    pub place: String,
}

/// State of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The job runs on these nodes.
    Running(String),
    /// The job is pending, for this reason.
    Waiting(String),
    /// The job is pending until earlier jobs on its drive have ended.
    AfterOthers,
    /// The job is held until someone releases it, and why, in Slurm's words.
    Held(String),
    /// The job is completing.
    Ending,
}

impl Place {
    /// Returns whether the job is held, and Slurm only says that somebody or an exit code holds it. In the latter case, the
    /// job's output says why.
    #[must_use]
    pub fn is_held_without_reason(&self) -> bool {
        matches!(self, Self::Held(reason) if reason.starts_with("JobHeld"))
    }
}

/// Parses the output of `squeue -h -o FORMAT`.
///
/// # Errors
/// Returns an error if the output has a different format.
pub fn queue(text: &str) -> Result<Vec<Queued>, FleetError> {
    let parse = |line: &str| {
        let mut fields = line.splitn(6, '|');
        let mut next = || fields.next().map(str::to_owned);
        let number = next().and_then(|text| text.trim().parse().ok());
        match (number, next(), next(), next(), next(), next()) {
            (Some(number), Some(index), Some(name), Some(state), Some(resources), Some(place)) => {
                // A job that is not a task of an array has no index.
                let is_task = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
                let name = if is_task { format!("{name}-{index}") } else { name };
                let drive = drive_in(&resources).to_owned();
                Ok(Queued { number, name, state, drive, place })
            }
            _ => Err(invalid("squeue", format!("'{}' is not a job", stdx::text::on_one_line(line)))),
        }
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
}

/// Returns the type of a drive in the resources of a job, such as `gres:drive:S5XANA0R:1`; newer versions of Slurm write
/// `gres/drive:S5XANA0R:1`, and some of their lists `=1`.
fn drive_in(resources: &str) -> &str {
    let each = resources
        .split(',')
        .map(|one| one.strip_prefix("gres").map_or(one, |rest| rest.trim_start_matches([':', '/'])));
    let drive =
        each.filter_map(|one| one.strip_prefix("drive:").or_else(|| one.strip_prefix("simulated:"))).next();
    drive.map_or("", |drive| drive.split([':', '=']).next().unwrap_or_default())
}

/// Returns the numbers of the jobs that use each drive, in ascending order.
#[must_use]
pub fn by_drive(queued: &[Queued]) -> BTreeMap<&str, Vec<u64>> {
    let mut drives: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for job in queued.iter().filter(|job| !job.drive.is_empty()) {
        drives.entry(&job.drive).or_default().push(job.number);
    }
    for numbers in drives.values_mut() {
        numbers.sort_unstable();
        numbers.dedup();
    }
    drives
}

/// Returns the state of a job.
#[must_use]
pub fn at(queued: &Queued) -> Place {
    let place = queued.place.trim_matches(['(', ')']);
    match queued.state.as_str() {
        "RUNNING" => Place::Running(place.into()),
        "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "CONFIGURING" | "SUSPENDED" => {
            // A job is also held if it failed with an exit code listed in `RequeueExitHold`, or if its prolog failed.
            let is_held = place.starts_with("JobHeld")
                || place.contains("held state")
                || place == "launch failed requeued held"
                || queued.state == "SPECIAL_EXIT";
            match place {
                "Dependency" => Place::AfterOthers,
                place if is_held => Place::Held(place.into()),
                place => Place::Waiting(place.into()),
            }
        }
        _ => Place::Ending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_known_by_their_runs_and_drives() {
        let text = "7|N/A|q-iops-D1-1|RUNNING|gres:simulated:D1:1|n1\n\
            9|2|a-iops-S5X|PENDING|gres:drive:S5X:1|(JobArrayTaskLimit)\n\
            8|1|a-iops-S5X|PENDING|gres/drive:S5X=1|(BeginTime)\n\
            10|N/A|other|PENDING|gres:gpu:2|(a|b)\n11|N/A|none|PENDING|N/A|(Priority)\n";
        let queued = queue(text).expect("a queue");
        let names: Vec<&str> = queued.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["q-iops-D1-1", "a-iops-S5X-2", "a-iops-S5X-1", "other", "none"]);
        assert_eq!(queued[3].place, "(a|b)");
        let expected = BTreeMap::from([("D1", vec![7]), ("S5X", vec![8, 9])]);
        assert_eq!(by_drive(&queued), expected);
    }
}
