//! Determines whether another run has used a drive since the run on it was interrupted.
//!
//! A test continues on the state that its own purge and writes have left. Another run purges the drive and writes to it,
//! and the length of the interruption does not reveal this. [`evidence`] is pure: it decides on facts from the library,
//! from this host and from the drive.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use record::{Entry, Event, Health, Library, RunFile, TargetFacts, TargetKind};

/// A run writes at least its drive's capacity. Some drives count in large units, so less than this fraction of it is no
/// evidence.
const LEAST_SHARE: u64 = 64;

/// What is known about the use of a drive by others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The run or command that last wrote to the drive on this host, if noted.
    pub last_user: Option<String>,
    /// The other runs on the drive in the library, with the time of the last record of each.
    pub runs: Vec<(String, Timestamp)>,
    /// Bytes written to the drive over its life, as it reports now.
    pub written_bytes: Option<u64>,
}

/// Returns why the drive of the interrupted run `file` is not as the run left it; `None` if there is no evidence.
#[must_use]
pub fn evidence(file: &RunFile, entries: &[Entry], known: &Known) -> Option<String> {
    if let Some(user) = known.last_user.as_ref().filter(|user| **user != file.id) {
        return Some(format!("{user} was the last to write to it"));
    }
    let answered = entries.iter().rfind(|entry| is_answer(&entry.event))?.wall;
    let later = known.runs.iter().filter(|(_, at)| *at > answered).max_by_key(|(_, at)| *at);
    if let Some((run, at)) = later {
        return Some(format!("run {run} used it until {at:.0}, after the last result at {answered:.0}"));
    }
    let was = written_at_stop(entries)?;
    let more = known.written_bytes?.checked_sub(was)?;
    (more > file.target.capacity_bytes / LEAST_SHARE)
        .then(|| format!("it reports {more} B written since the interruption"))
}

const fn is_answer(event: &Event) -> bool {
    matches!(event, Event::Purged(_) | Event::Preconditioned(_) | Event::Measured(_) | Event::Idled { .. })
}

/// Returns the bytes written to the drive over its life when the run stopped; `None` after a crash, because the run
/// may have written after its last record.
fn written_at_stop(entries: &[Entry]) -> Option<u64> {
    let stopped = entries.iter().rposition(|entry| matches!(entry.event, Event::Interrupted { .. }))?;
    let has_continued =
        entries[stopped..].iter().any(|entry| is_answer(&entry.event) || is_start(&entry.event));
    match &entries[..stopped].last()?.event {
        Event::Health { health: Health { host_written_bytes, .. }, .. } if !has_continued => {
            *host_written_bytes
        }
        _ => None,
    }
}

const fn is_start(event: &Event) -> bool {
    matches!(event, Event::TestStarted { .. } | Event::Restarted { .. } | Event::Resumed { .. })
}

/// Returns what this host and its library know about the use of a run's target by others.
#[must_use]
pub fn known(file: &RunFile, library: &Library, state: &Path, health: &Health) -> Known {
    let is_other = |run: &&record::Run| run.file.id != file.id && uses(&run.file.target, &file.target);
    let last_use = |run: &record::Run| {
        let entries = run.load().ok()?.entries;
        // Until its first test starts, a run writes nothing.
        let has_begun = entries.iter().any(|entry| is_start(&entry.event));
        Some((run.file.id.clone(), entries.last().filter(|_| has_begun)?.wall))
    };
    let runs = library.list().map(|(runs, _)| runs).unwrap_or_default();
    let noted = |key: &String| record::noted(state, &user_of(key));
    Known {
        last_user: keys(&file.target).iter().filter_map(noted).find(|user| *user != file.id),
        runs: runs.iter().filter(is_other).filter_map(last_use).collect(),
        written_bytes: health.host_written_bytes,
    }
}

/// Notes that `user` is about to write to the target. Without the note, only the library and the drive reveal the use.
pub fn note(target: &TargetFacts, state: &Path, user: &str) {
    if target.simulated.is_some() {
        return;
    }
    for key in keys(target) {
        if let Err(error) = record::note(state, &user_of(&key), user) {
            log::warn!("could not note the use of {key}: {error}");
        }
    }
}

fn user_of(key: &str) -> String {
    format!("the last user of {key}")
}

/// Returns the names of the drives or of the file that a target consists of, which are the same each time it is used.
#[must_use]
pub fn keys(target: &TargetFacts) -> Vec<String> {
    match (&target.array, target.kind) {
        (Some(array), _) => array.members.iter().map(|member| member.identity.clone()).collect(),
        (None, TargetKind::File) => vec![file_key(&target.path)],
        (None, _) => vec![target.identity.clone()],
    }
}

/// Returns the name of a file that may not exist yet: its path without links.
#[must_use]
pub fn file_key(path: &str) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let in_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let whole = path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.clone());
    whole.to_string_lossy().into_owned()
}

/// Returns whether a run on `other` writes to the drive or file `target`. Runs on devices that cannot be distinguished
/// count as runs on the same device.
fn uses(other: &TargetFacts, target: &TargetFacts) -> bool {
    if let Some(array) = &other.array {
        return array.members.iter().any(|member| member.identity == target.identity);
    }
    let attachments = other.attachment.as_ref().zip(target.attachment.as_ref());
    let is_same_attachment = attachments.is_none_or(|(one, other)| one == other);
    match (other.kind, target.kind) {
        (TargetKind::Block, TargetKind::Block) => {
            other.identity == target.identity && (target.serial.is_some() || is_same_attachment)
        }
        (TargetKind::File, TargetKind::File) => other.path == target.path && is_same_attachment,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
