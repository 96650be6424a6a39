//! `plateau fleet status`.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use ::fleet::{Job, Place, Queued, at};
use pts::Standing;
use record::Library;
use serde_json::{Value, json};
use stdx::files::Links;
use stdx::text::on_one_line;

use super::files::{campaign, read_inventory};
use super::scheduler::{self, Queue};
use crate::cli::{Cli, FleetStatus};
use crate::failure::Done;
use crate::output::places;
use crate::output::printer;
use crate::output::summary::Summary;

/// Number of bytes at the end of a job's output that are searched for its last message.
const TAIL_BYTES: u64 = 4096;

/// The state of a job.
struct Known {
    word: &'static str,
    detail: String,
}

pub fn run(cli: &Cli, options: &FleetStatus) -> Done {
    let inventory = read_inventory(&options.inventory)?;
    let (campaign, jobs) = campaign(&options.campaign, &inventory)?;
    let library = places::library(cli.library.as_deref())?;
    let (queued, note) = match scheduler::queued()? {
        Queue::Known(queued) => (Some(queued), None),
        Queue::Absent => (None, Some("this host has no squeue: jobs in the queue are unknown".to_owned())),
        Queue::Unknown(message) => {
            (None, Some(format!("squeue failed: jobs in the queue are unknown: {message}")))
        }
    };
    let known: Vec<(&Job, Known)> =
        jobs.iter().map(|job| (job, known(job, queued.as_deref(), &library, &options.logs))).collect();
    if cli.json {
        if let Some(note) = &note {
            printer::notice(note);
        }
        return printer::print_json(&known.iter().map(document).collect());
    }
    let mut out = format!("campaign  {}: {}\n", campaign.name, counts(known.iter().map(|(_, known)| known)));
    if let Some(note) = note {
        out.push_str(&format!("note      {note}\n"));
    }
    let mut drives: Vec<&str> = Vec::new();
    for job in &jobs {
        if !drives.contains(&job.drive.identity.as_str()) {
            drives.push(&job.drive.identity);
        }
    }
    for drive in drives {
        let of_drive: Vec<&(&Job, Known)> =
            known.iter().filter(|(job, _)| job.drive.identity == drive).collect();
        let place = of_drive.first().map(|(job, _)| format!("{}:{}", job.drive.host, job.drive.path));
        out.push('\n');
        out.push_str(&on_one_line(&format!(
            "{drive}  {}  {}",
            place.unwrap_or_default(),
            counts(of_drive.iter().map(|(_, known)| known))
        )));
        out.push('\n');
        for (job, known) in of_drive.iter().filter(|(_, known)| known.word != "complete") {
            out.push_str(&on_one_line(
                format!("  {:<10} {}  {}", known.word, job.id, known.detail).trim_end(),
            ));
            out.push('\n');
        }
    }
    printer::print(&out)
}

/// Counts jobs by state: `3 complete, 1 waits`.
fn counts<'a>(all: impl Iterator<Item = &'a Known>) -> String {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for known in all {
        match counts.iter_mut().find(|(word, _)| *word == known.word) {
            Some((_, count)) => *count += 1,
            None => counts.push((known.word, 1)),
        }
    }
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// Returns the state of a job according to the library and, if known, the queue.
fn known(job: &Job, queue: Option<&[Queued]>, library: &Library, logs: &Path) -> Known {
    let said = || last_message(&logs.join(format!("{}.log", job.id)));
    let of = |word, detail: String| Known { word, detail };
    if let Some(place) = queue.unwrap_or_default().iter().find(|queued| queued.name == job.id).map(at) {
        return match place {
            Place::Running(nodes) => of("runs", format!("on {nodes}")),
            Place::Waiting(reason) => of("waits", format!("for {reason}")),
            Place::Held => of("held", said()),
            Place::Ending => of("ending", String::new()),
        };
    }
    if !library.has(&job.id) {
        let said = said();
        return if said.is_empty() { of("new", String::new()) } else { of("failed", said) };
    }
    match library.open(&job.id).map_err(Into::into).and_then(Summary::live) {
        Ok(summary) => match summary.standing() {
            Standing::Running => of("runs", summary.in_progress().unwrap_or_default()),
            // The job may be waiting in a queue that could not be read.
            Standing::Incomplete if queue.is_none() => of("incomplete", said()),
            Standing::Incomplete => of("failed", said()),
            _ if summary.is_rejected() => of("rejected", said()),
            standing => of("complete", standing.verdict().into()),
        },
        Err(failure) => of("unreadable", failure.message()),
    }
}

/// Returns the last error in a job's output; empty if there is none.
fn last_message(log: &Path) -> String {
    let tail = || {
        let mut file = stdx::files::open(log, Links::Refused).ok()?;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let tail = tail().unwrap_or_default();
    tail.lines().rev().find_map(|line| line.strip_prefix("plateau: ")).unwrap_or_default().to_owned()
}

fn document((job, known): &(&Job, Known)) -> Value {
    json!({
        "run": job.id,
        "drive": job.drive.identity,
        "host": job.drive.host,
        "state": known.word,
        "detail": known.detail,
    })
}
