//! Submits the jobs of a campaign, after all checks that need no drive.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use failure::{Done, Exit, Failure};
use fleet::{
    Campaign, Expected, FleetError, Job, Program, batch_name, batches, by_drive, dependencies, outlook,
    script,
};
use output::printer;
use record::{Detail, Event, Library, Loaded};
use serde_json::{Value, json};
use stdx::files::Folder;
use stdx::table::table;
use stdx::text::{in_quotes, on_one_line};
use stdx::units::span;

use crate::files::{failure, read};
use crate::scheduler::{self, Queue, Whose};

/// Jobs that are submitted together, and their script.
pub type Script<'a> = (Vec<&'a Job>, String);

/// Returns the time limit of each job in minutes, by its id.
///
/// # Errors
/// Returns an error if the campaign's limit is too short for a step of a run.
pub fn time_limits<'a>(
    chosen: Option<u32>,
    jobs: &'a [Job],
    each: &[Expected],
) -> Done<BTreeMap<&'a str, u32>> {
    let limit = |(job, expected): (&'a Job, &Expected)| match expected.time_limit(chosen) {
        Ok(minutes) => Ok((job.id.as_str(), minutes)),
        Err(least) => Err(Failure::text(
            Exit::Usage,
            format!(
                "time-limit-minutes is too short for plan '{}' on drive {}: one of its steps can take up to {}, and starts \
                 again from its beginning each time that the limit interrupts the job; use at least {least}",
                job.work.name,
                on_one_line(&job.drive.identity),
                span(expected.step_ns)
            ),
        )),
    };
    jobs.iter().zip(each).map(limit).collect()
}

/// Checks that erasing was confirmed for each drive.
///
/// # Errors
/// Returns an error that names the drives for which it was not, or an identity that is not of the campaign.
pub fn check_confirmed(jobs: &[Job], erase: &[String], erase_list: Option<&Path>) -> Done {
    let mut typed: BTreeSet<String> = erase.iter().cloned().collect();
    if let Some(path) = erase_list {
        typed.extend(read(path)?.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let drives = outlook::lost(jobs);
    if let Some(stranger) = erase.iter().find(|typed| !drives.contains_key(typed.as_str())) {
        let text =
            format!("--erase '{stranger}' does not match any drive in the campaign; nothing was submitted");
        return Err(Failure::text(Exit::Refused, text));
    }
    let missing: Vec<&str> = drives.keys().copied().filter(|identity| !typed.contains(*identity)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let each: Vec<String> =
        missing.iter().map(|identity| format!("--erase {}", in_quotes(&on_one_line(identity)))).collect();
    let text = format!(
        "everything on {} of these drives would be lost; confirm with {}, or with --erase-list FILE, which has one \
         identity per line. Nothing was submitted",
        missing.len(),
        each.join(" ")
    );
    Err(Failure::text(Exit::Refused, text))
}

/// Returns the scripts of jobs.
///
/// # Errors
/// Returns an error if a path contains a line break.
pub fn scripts<'a>(
    campaign: &Campaign,
    wanted: &[&'a Job],
    program: &Program,
    limits: &BTreeMap<&str, u32>,
) -> Done<Vec<Script<'a>>> {
    // Slurm has one time limit for all tasks of an array.
    let limit = |batch: &[&Job]| batch.iter().filter_map(|job| limits.get(job.id.as_str())).max().copied();
    batches(campaign, wanted)
        .into_iter()
        .filter_map(|batch| {
            let limit = limit(&batch)?;
            Some(script(&batch, program, limit).map(|text| (batch, text)))
        })
        .collect::<Result<_, FleetError>>()
        .map_err(failure)
}

/// Writes the scripts to a folder; returns the names of the files.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn write(dir: &Path, scripts: &[Script<'_>]) -> Done<Value> {
    let cannot = |error: stdx::files::WriteError| {
        Failure::text(Exit::Run, format!("cannot write {}", stdx::text::with_causes(&error)))
    };
    let folder = Folder::make(dir, true).map_err(cannot)?;
    let mut names = Vec::new();
    for (batch, text) in scripts {
        let name = format!("{}.sh", batch_name(batch));
        folder.replace(OsStr::new(&name), text.as_bytes()).map_err(cannot)?;
        names.push(name);
    }
    printer::notice(&format!("wrote {} scripts for sbatch to {}", names.len(), dir.display()));
    Ok(json!(names))
}

/// Returns the jobs that are neither complete nor in the queue, so that resubmitting a campaign adds only these.
///
/// # Errors
/// Returns an error if Slurm does not answer.
pub fn missing<'a>(jobs: &'a [Job], library: &Library) -> Done<Vec<&'a Job>> {
    let queued = match scheduler::queued(Whose::Mine)? {
        Queue::Known(queued) => queued,
        // There is no sbatch on this host either, which the first submission's error message will say.
        Queue::Absent => Vec::new(),
        // Without knowledge of the queue, jobs could be submitted twice.
        Queue::Unknown(message) => return Err(scheduler::failed("squeue", &message)),
    };
    let is_missing = |job: &&Job| {
        let is_complete = || {
            let run = library.open(&job.id).ok();
            run.and_then(|run| run.load_detail(Detail::Conclusions).ok())
                .is_some_and(|loaded| is_complete(&loaded))
        };
        !queued.iter().any(|queued| queued.name == job.id) && !is_complete()
    };
    Ok(jobs.iter().filter(is_missing).collect())
}

fn is_complete(loaded: &Loaded) -> bool {
    loaded.entries.iter().any(|entry| matches!(entry.event, Event::Closed))
}

/// Submits the scripts, and prints a line for each job unless the output is JSON; returns the numbers of the jobs. The
/// jobs of a drive run in the order of their submission.
///
/// # Errors
/// Returns an error with the jobs that were submitted if `sbatch` refuses one.
pub fn submit(scripts: &[Script<'_>], skipped: usize, is_json: bool) -> Done<Value> {
    let queued = match scheduler::queued(Whose::Everyones)? {
        Queue::Known(queued) => queued,
        Queue::Absent => Vec::new(),
        // Without knowledge of the queue, a job could run while the run of an earlier one is held.
        Queue::Unknown(message) => return Err(scheduler::failed("squeue", &message)),
    };
    let mut earlier: BTreeMap<String, Vec<u64>> =
        by_drive(&queued).into_iter().map(|(drive, jobs)| (drive.to_owned(), jobs)).collect();
    let mut submitted = Vec::new();
    for (batch, text) in scripts {
        let drive = batch.first().map(|job| job.drive.gres()).unwrap_or_default();
        let after = earlier.get(&drive).map(Vec::as_slice).unwrap_or_default();
        let number = scheduler::submit(text, dependencies(batch, after).as_deref()).map_err(|failure| {
            // A batch of several runs has a name of its own, which is not the id of a run.
            let failure = match batch[..] {
                [job] => failure.of_run(&job.id),
                _ => failure,
            };
            failure.with_document(json!({ "submitted": submitted.clone() }))
        })?;
        // An earlier job still counts if the one after it is cancelled.
        earlier.entry(drive).or_default().extend(number.parse::<u64>());
        for job in batch {
            // Slurm's notation for a task of a job array.
            let number =
                if batch.len() == 1 { number.clone() } else { format!("{number}_{}", job.repetition) };
            if !is_json {
                printer::print(&format!("job {number}  {}", job.id))?;
            }
            submitted.push(json!({ "job": number, "run": job.id }));
        }
    }
    if !is_json && skipped > 0 {
        printer::print(&format!("{skipped} jobs are already complete or in the queue"))?;
    }
    Ok(json!(submitted))
}

/// Describes the campaign: what it takes, and what is lost.
#[must_use]
pub fn text(name: &str, jobs: &[Job], each: &[Expected]) -> String {
    let drives = outlook::by_drive(jobs, each);
    format!("{}\n{}\n", outlook::summary(name, jobs, &drives), table(&outlook::rows(&drives)))
}

/// Describes each job of the campaign.
#[must_use]
pub fn document(name: &str, jobs: &[Job], each: &[Expected]) -> Value {
    let job = |(job, expected): (&Job, &Expected)| {
        json!({
            "run": job.id,
            "drive": job.drive.identity,
            "host": job.drive.host,
            "is_lost": !job.drive.is_simulated(),
            "licenses": job.licenses,
            "shortest_ns": expected.shortest_ns,
            "longest_ns": expected.longest_ns,
            "least_written_bytes": expected.least_bytes,
            "most_written_bytes": expected.most_bytes,
        })
    };
    json!({ "campaign": name, "jobs": jobs.iter().zip(each).map(job).collect::<Vec<_>>() })
}
