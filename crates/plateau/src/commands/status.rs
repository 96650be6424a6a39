//! `plateau status`: lists the runs in progress, one per line.

use jiff::Timestamp;
use record::{Event, Loaded, Run, RunFile};
use serde_json::{Value, json};
use stdx::units::span;

use crate::cli::Cli;
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::summary;

/// A run that a process is executing.
struct InProgress {
    run: Run,
    loaded: Loaded,
}

pub fn run(cli: &Cli) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let (runs, unreadable) = library.list()?;
    let mut failures: Vec<Failure> = unreadable.into_iter().map(Failure::from).collect();
    let mut in_progress = Vec::new();
    for run in runs {
        match read(run) {
            Ok(found) => in_progress.extend(found),
            Err(failure) => failures.push(failure),
        }
    }
    let now = record::wall_now();
    if cli.json {
        printer::print_json(&in_progress.iter().map(|found| document(found, now)).collect())?;
    } else if !in_progress.is_empty() {
        printer::print(&in_progress.iter().map(|found| line(found, now)).collect::<String>())?;
    } else if printer::columns().is_some() {
        // Scripts need only the exit code, so they get no output.
        printer::notice("no run is in progress");
    }
    if let Some(last) = failures.pop() {
        failures.iter().for_each(|failure| printer::print_line(&format!("plateau: {}", failure.message())));
        return Err(last.already_printed());
    }
    if in_progress.is_empty() { Ok(()) } else { Err(Failure::silent(Exit::InProgress)) }
}

fn read(run: Run) -> Done<Option<InProgress>> {
    if !run.is_in_progress()? {
        return Ok(None);
    }
    let loaded = run.load()?;
    // The run may have just been completed.
    let is_closed = loaded.entries.iter().any(|entry| matches!(entry.event, Event::Closed));
    Ok((!is_closed).then_some(InProgress { run, loaded }))
}

fn line(found: &InProgress, now: Timestamp) -> String {
    let file = &found.run.file;
    let phase = estimate::phase::phase(&found.loaded.entries);
    let left = left(file, &found.loaded).map_or_else(String::new, |(shortest, longest)| {
        if shortest == longest {
            format!("  about {} left", span(shortest))
        } else {
            format!("  {} to {} left", span(shortest), span(longest))
        }
    });
    let name = file.labels.name.as_deref().map(|name| format!("  {name}")).unwrap_or_default();
    format!(
        "{}{name}  {phase}  running for {}  last record {} ago{left}  {}\n",
        file.id,
        span(ns_between(file.created, now)),
        span(ns_between(last(found), now)),
        summary::target(file)
    )
}

fn document(found: &InProgress, now: Timestamp) -> Value {
    let file = &found.run.file;
    let phase = estimate::phase::phase(&found.loaded.entries);
    let left = left(file, &found.loaded);
    json!({
        "run": file.id,
        "name": file.labels.name,
        "target": summary::target(file),
        "phase": phase.to_string(),
        "test": phase.test(),
        "created": file.created.to_string(),
        "elapsed_ns": ns_between(file.created, now),
        "since_last_record_ns": ns_between(last(found), now),
        "left_shortest_ns": left.map(|(shortest, _)| shortest),
        "left_longest_ns": left.map(|(_, longest)| longest),
        "path": places::text_of(&found.run.dir),
    })
}

fn last(found: &InProgress) -> Timestamp {
    found.loaded.entries.last().map_or(found.run.file.created, |entry| entry.wall)
}

/// Returns the remaining time; `None` for a simulated drive, whose clock is unrelated to the wall clock.
fn left(file: &RunFile, loaded: &Loaded) -> Option<(u64, u64)> {
    if file.target.simulated.is_some() { None } else { estimate::phase::left_ns(file, &loaded.entries) }
}

/// Returns the time between two instants in ns; 0 if the clock was set back.
fn ns_between(since: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.duration_since(since).as_nanos()).unwrap_or(0)
}
