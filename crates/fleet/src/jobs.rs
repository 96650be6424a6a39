//! The jobs of a campaign, and their scripts.

use crate::campaign::{Campaign, Work};
use crate::error::{FleetError, invalid};
use crate::expected::SIGNAL_SECONDS;
use crate::fitness::Limits;
use crate::inventory::{Drive, Inventory};
use crate::words::{name, quoted};

/// Largest index of a task in an array with Slurm's default `MaxArraySize`.
const MOST_INDEX: u32 = 1000;

/// Slurm's dependency of a job on other jobs with its name, so that a run's job never runs twice at the same time.
const SINGLETON: &str = "singleton";

/// One run of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Id of the run, and name of the job.
    pub id: String,
    /// The id without the repetition, which all repetitions of the plan on the drive have in common.
    pub series: String,
    /// Number of the repetition.
    pub repetition: u32,
    /// The drive.
    pub drive: Drive,
    /// The plan to run on the drive.
    pub work: Work,
    /// Licenses for the links and the enclosure that the drive shares with others.
    pub licenses: Vec<String>,
    /// Limits that the drive must meet before each start; `None` if the drive is not checked.
    pub limits: Option<Limits>,
}

/// How jobs start Plateau.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Path of the program on the hosts.
    pub path: String,
    /// Library on the hosts.
    pub library: String,
    /// Folder for the jobs' output.
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
                let series = format!("{}-{}-{}", campaign.name, work.name, name(&drive.identity));
                let licenses = drive.licenses(&inventory.drives, campaign.contention);
                jobs.push(Job {
                    id: format!("{series}-{repetition}"),
                    series,
                    repetition,
                    drive: (*drive).clone(),
                    work: work.clone(),
                    licenses,
                    limits: (!campaign.unchecked).then(|| campaign.limits.clone()),
                });
            }
        }
    }
    jobs
}

/// Groups jobs into those that are submitted together: each job alone or, if the campaign asks for arrays, all repetitions
/// of a plan on a drive.
#[must_use]
pub fn batches<'a>(campaign: &Campaign, jobs: &[&'a Job]) -> Vec<Vec<&'a Job>> {
    let mut batches: Vec<Vec<&Job>> = Vec::new();
    for job in jobs.iter().copied() {
        // The ids of jobs for different drives or plans may begin with the same characters.
        let is_of_series = |batch: &&mut Vec<&Job>| {
            batch.first().is_some_and(|first| {
                (&first.drive.identity, &first.work.name) == (&job.drive.identity, &job.work.name)
            })
        };
        let fits = campaign.arrays && job.repetition <= MOST_INDEX;
        match batches.iter_mut().find(is_of_series).filter(|_| fits) {
            Some(batch) => batch.push(job),
            None => batches.push(vec![job]),
        }
    }
    batches
}

/// Returns the name of a batch of jobs: the id if there is only one run, otherwise the part that all ids have in
/// common.
#[must_use]
pub fn batch_name<'a>(batch: &[&'a Job]) -> &'a str {
    match batch {
        [] => "",
        [job] => &job.id,
        [job, ..] => &job.series,
    }
}

/// Returns the dependencies of jobs that are submitted together, so that they start only after the jobs with the numbers
/// `after`, which use the same drive, have ended. A job that is requeued or held has not ended: the state of its drive
/// is part of its run. `None` if there are no such jobs.
#[must_use]
pub fn dependencies(batch: &[&Job], after: &[u64]) -> Option<String> {
    let each: String = after.iter().map(|number| format!(":{number}")).collect();
    // The tasks of an array have the same name.
    let singleton = if batch.len() == 1 { format!("{SINGLETON},") } else { String::new() };
    (!after.is_empty()).then(|| format!("{singleton}afterany{each}"))
}

/// Returns the `sbatch` script for jobs that are submitted together: one job, or the tasks of an array.
///
/// # Errors
/// Returns an error if the log folder or another option contains a line break.
pub fn script(batch: &[&Job], program: &Program, time_limit_minutes: u32) -> Result<String, FleetError> {
    let Some(job) = batch.first() else { return Ok(String::new()) };
    let drive = &job.drive;
    let (log, id, order) = if batch.len() == 1 {
        (job.id.clone(), quoted(&job.id), format!("--dependency={SINGLETON}"))
    } else {
        // At most one task of the array runs at a time. Names contain no character that the shell would
        // interpret.
        let indices: Vec<String> = batch.iter().map(|job| job.repetition.to_string()).collect();
        let order = format!("--array={}%1", indices.join(","));
        let (log, id) =
            (format!("{}-%a", job.series), format!("{}-\"${{SLURM_ARRAY_TASK_ID:?}}\"", job.series));
        (log, id, order)
    };
    let mut options = vec![
        format!("--job-name={}", batch_name(batch)),
        format!("--gres={}:{}:1", drive.gres_name(), drive.gres()),
        "--nodes=1".into(),
        "--ntasks=1".into(),
        format!("--time={time_limit_minutes}"),
        format!("--signal=B:INT@{SIGNAL_SECONDS}"),
        "--requeue".into(),
        order,
        "--open-mode=append".into(),
        format!("--output={}/{log}.log", program.logs),
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
    let mut words = job.work.arguments(&target);
    if !drive.is_simulated() {
        words.extend(["--erase".into(), drive.identity.clone()]);
    }
    let options: String = options.iter().map(|option| format!("#SBATCH {}\n", quoted(option))).collect();
    let start = [program.path.as_str(), "--library", &program.library, "job"].map(quoted);
    let words: Vec<String> =
        start.into_iter().chain([id]).chain(words.iter().map(|word| quoted(word))).collect();
    // An unfit drive's job ends with the exit code of the check, so that Slurm holds or requeues it.
    let check = job.limits.as_ref().map(|limits| {
        let words = [program.path.clone(), "fleet".into(), "check".into(), target.clone()];
        let words: Vec<String> =
            words.into_iter().chain(limits.options()).map(|word| quoted(&word)).collect();
        format!("{} || exit\n", words.join(" "))
    });
    let check = check.unwrap_or_default();
    // `exec`, so that the signal sent before the time limit reaches Plateau itself.
    Ok(format!("#!/bin/sh\n{options}{check}exec {}\n", words.join(" ")))
}
