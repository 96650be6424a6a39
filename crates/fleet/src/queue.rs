//! The scheduler's list of jobs.

use crate::error::{FleetError, invalid};

/// Format of `squeue` that [`queue`] reads, with one line for each task of an array: number, task index, name, state,
/// reason or nodes.
pub const SQUEUE_FORMAT: &str = "%A|%K|%j|%T|%R";

/// A job in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// Number of the job.
    pub number: u64,
    /// Name of the job, which is the id of its run.
    pub name: String,
    /// State in Slurm's words, such as `PENDING`.
    pub state: String,
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
    /// The job is held until someone releases it, and why, in Slurm's words.
    Held(String),
    /// The job is completing.
    Ending,
}

/// Parses the output of `squeue -h -o FORMAT`.
///
/// # Errors
/// Returns an error if the output has a different format.
pub fn queue(text: &str) -> Result<Vec<Queued>, FleetError> {
    let parse = |line: &str| {
        let mut fields = line.splitn(5, '|');
        let mut next = || fields.next().map(str::to_owned);
        let number = next().and_then(|text| text.trim().parse().ok());
        match (number, next(), next(), next(), next()) {
            (Some(number), Some(index), Some(name), Some(state), Some(place)) => {
                // A job that is not a task of an array has no index.
                let is_task = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
                let name = if is_task { format!("{name}-{index}") } else { name };
                Ok(Queued { number, name, state, place })
            }
            _ => Err(invalid("squeue", format!("'{}' is not a job", stdx::text::on_one_line(line)))),
        }
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
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
            if is_held { Place::Held(place.into()) } else { Place::Waiting(place.into()) }
        }
        _ => Place::Ending,
    }
}
