//! The jobs of a campaign, and their scripts.

use crate::campaign::{Campaign, Contention, Work};
use crate::error::{FleetError, invalid};
use crate::inventory::{Drive, Inventory};
use crate::words::{name, quoted};

/// How long before its time limit a job is interrupted, so that it can shut down cleanly.
const SIGNAL_SECONDS: u32 = 120;

/// One run of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Id of the run, and name of the job.
    pub id: String,
    /// The drive.
    pub drive: Drive,
    /// The plan to run on it.
    pub work: Work,
    /// Licenses for the links that the drive shares.
    pub licenses: Vec<String>,
}

/// How jobs start Plateau.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Path of the program on the hosts.
    pub path: String,
    /// Library on the hosts.
    pub library: String,
    /// Folder for the output of the jobs.
    pub logs: String,
}

/// Returns the jobs of a campaign on the selected drives. All first repetitions precede all second repetitions, so that
/// even partial results compare drives.
#[must_use]
pub fn jobs(campaign: &Campaign, inventory: &Inventory, drives: &[&Drive]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for repetition in 1..=campaign.repetitions {
        for work in &campaign.plans {
            for drive in drives {
                let id = format!("{}-{}-{}-{repetition}", campaign.name, work.name, name(&drive.identity));
                let licenses = match campaign.contention {
                    Contention::Avoid => drive.licenses(&inventory.drives),
                    Contention::Allow => Vec::new(),
                };
                jobs.push(Job { id, drive: (*drive).clone(), work: work.clone(), licenses });
            }
        }
    }
    jobs
}

/// Returns the script of a job for `sbatch`.
///
/// # Errors
/// Returns an error if the log folder or another option contains a line break.
pub fn script(job: &Job, program: &Program, time_limit_minutes: u32) -> Result<String, FleetError> {
    let drive = &job.drive;
    let mut options = vec![
        format!("--job-name={}", job.id),
        format!("--gres={}:{}:1", drive.gres_name(), drive.gres()),
        "--nodes=1".into(),
        "--ntasks=1".into(),
        format!("--time={time_limit_minutes}"),
        format!("--signal=B:INT@{SIGNAL_SECONDS}"),
        "--requeue".into(),
        "--dependency=singleton".into(),
        "--open-mode=append".into(),
        format!("--output={}/{}.log", program.logs, job.id),
    ];
    if !job.licenses.is_empty() {
        let each: Vec<String> = job.licenses.iter().map(|license| format!("{license}:1")).collect();
        options.push(format!("--licenses={}", each.join(",")));
    }
    // Even in quotes, a line break would end the comment that contains the option, and the shell would execute the
    // rest.
    if let Some(option) = options.iter().find(|option| option.chars().any(char::is_control)) {
        let problem = format!("the option '{}' contains a control character", option.escape_debug());
        return Err(invalid("the script of a job", problem));
    }
    let target = if drive.is_simulated() { drive.path.clone() } else { format!("serial:{}", drive.identity) };
    let mut words =
        vec![program.path.clone(), "--library".into(), program.library.clone(), "job".into(), job.id.clone()];
    words.extend(job.work.arguments(&target));
    if !drive.is_simulated() {
        words.extend(["--erase".into(), drive.identity.clone()]);
    }
    let options: String = options.iter().map(|option| format!("#SBATCH {}\n", quoted(option))).collect();
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    // `exec`, so that the signal sent before the time limit reaches Plateau itself.
    Ok(format!("#!/bin/sh\n{options}exec {}\n", words.join(" ")))
}
