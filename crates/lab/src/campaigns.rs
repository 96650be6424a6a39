//! Campaigns of jobs on the drives of many hosts, as the program that starts the server reports them.

use std::sync::{Mutex, PoisonError};

/// Reports every campaign that the server shows, or why it cannot be read.
pub type ReadCampaigns = Box<dyn Fn() -> Vec<Result<Campaign, String>> + Send + Sync>;

/// A campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Campaign {
    /// Name.
    pub name: String,
    /// Why the scheduler's queue is unknown; None if it is known.
    pub note: Option<String>,
    /// The jobs, in the order in which they are submitted.
    pub jobs: Vec<CampaignJob>,
}

/// A job of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignJob {
    /// Id of the job's run.
    pub run: String,
    /// Identity of the drive.
    pub drive: String,
    /// Host and path of the drive.
    pub place: String,
    /// State of the job as a word.
    pub state: &'static str,
    /// Where it runs, what it waits for, or why it failed.
    pub detail: String,
}

impl Campaign {
    /// The jobs by drive, in the order of the first job of each.
    pub fn by_drive(&self) -> Vec<(&CampaignJob, Vec<&CampaignJob>)> {
        let mut drives: Vec<(&CampaignJob, Vec<&CampaignJob>)> = Vec::new();
        for job in &self.jobs {
            match drives.iter_mut().find(|(first, _)| first.drive == job.drive) {
                Some((_, jobs)) => jobs.push(job),
                None => drives.push((job, vec![job])),
            }
        }
        drives
    }
}

/// Counts jobs by state: `3 complete, 1 waiting`.
pub fn counts(jobs: &[&CampaignJob]) -> String {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for job in jobs {
        match counts.iter_mut().find(|(word, _)| *word == job.state) {
            Some((_, count)) => *count += 1,
            None => counts.push((job.state, 1)),
        }
    }
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// The campaigns of a server. The scheduler is asked for one visitor at a time, so that a scheduler that does not respond is
/// not asked again and again.
pub struct Campaigns {
    read: ReadCampaigns,
    turn: Mutex<()>,
}

impl Campaigns {
    pub fn of(read: ReadCampaigns) -> Self {
        Self { read, turn: Mutex::new(()) }
    }

    pub fn all(&self) -> Vec<Result<Campaign, String>> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        (self.read)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_grouped_by_drive_and_counted_by_state() {
        let job = |run: &str, drive: &str, state| CampaignJob {
            run: run.into(),
            drive: drive.into(),
            place: "n1:/dev/a".into(),
            state,
            detail: String::new(),
        };
        let jobs = vec![job("1", "A", "complete"), job("2", "B", "waiting"), job("3", "A", "complete")];
        let campaign = Campaign { name: "q".into(), note: None, jobs };
        let grouped: Vec<(&str, String)> =
            campaign.by_drive().iter().map(|(first, jobs)| (first.drive.as_str(), counts(jobs))).collect();
        assert_eq!(grouped, [("A", "2 complete".to_owned()), ("B", "1 waiting".to_owned())]);
        assert_eq!(counts(&campaign.jobs.iter().collect::<Vec<_>>()), "2 complete, 1 waiting");
    }
}
