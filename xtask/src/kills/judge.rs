//! Checks made after an interruption, and after the resumed run has completed.

use std::path::{Path, PathBuf};

use record::{Entry, Event, Note, Run};
use serde_json::Value;

/// The kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The journal does not contain everything that was displayed.
    Lost,
    /// The run cannot be read.
    Torn,
    /// Results differ without a recorded gap, or `verify` rejects the journal.
    Differing,
    /// The run cannot be resumed because a lock is still held.
    Locked,
    /// Changed settings or restore records remain.
    LeftBehind,
    /// The exit code is wrong for the situation.
    Ended,
}

impl Fault {
    pub const ALL: [Self; 6] =
        [Self::Lost, Self::Torn, Self::Differing, Self::Locked, Self::LeftBehind, Self::Ended];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::Differing => "differing",
            Self::Locked => "locked",
            Self::LeftBehind => "left behind",
            Self::Ended => "ended wrongly",
        }
    }
}

/// A fault with its details.
pub type Found = (Fault, String);

/// Returns the run directories of a library, without hidden directories, which are not runs.
pub fn runs(library: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(library).into_iter().flatten().flatten();
    let is_run =
        |path: &PathBuf| path.is_dir() && path.file_name().is_none_or(|n| n.as_encoded_bytes()[0] != b'.');
    entries.map(|entry| entry.path()).filter(is_run).collect()
}

/// Returns the names of restore records in the library.
pub fn notes(library: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(library).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Loads the only run; `None` if no run had been created.
pub fn only_run(library: &Path) -> Result<Option<(Run, Vec<Entry>)>, Found> {
    let runs = runs(library);
    let torn = |why: String| (Fault::Torn, why);
    let dir = match &runs[..] {
        [] => return Ok(None),
        [dir] => dir,
        several => return Err(torn(format!("{} runs instead of one", several.len()))),
    };
    let run = Run::open(dir).map_err(|error| torn(error.to_string()))?;
    let loaded = run.load().map_err(|error| torn(error.to_string()))?;
    if !matches!(loaded.entries.first().map(|entry| &entry.event), Some(Event::Opened { .. })) {
        return Err(torn(format!("{}: the journal does not begin with 'opened'", dir.display())));
    }
    Ok(Some((run, loaded.entries)))
}

/// Checks that the journal contains everything that was displayed on standard error (`err`).
pub fn displayed(err: &str, entries: &[Entry]) -> Result<(), Found> {
    let count = |is_meant: fn(&Event) -> bool| entries.iter().filter(|entry| is_meant(&entry.event)).count();
    let shown = |start: &str| err.lines().filter(|line| line.starts_with(start)).count();
    let pairs = [
        ("purged by", count(|event| matches!(event, Event::Purged(_)))),
        ("preconditioned:", count(|event| matches!(event, Event::Preconditioned(_)))),
        ("test ", count(|event| matches!(event, Event::TestStarted { .. } | Event::Restarted { .. }))),
        ("round ", judged_lines(entries)),
    ];
    for (start, recorded) in pairs {
        let shown = shown(start);
        if shown > recorded {
            return Err((Fault::Lost, format!("{shown} lines '{start}', {recorded} records")));
        }
    }
    Ok(())
}

/// Returns the number of displayed steady-state evaluations, one per variable.
fn judged_lines(entries: &[Entry]) -> usize {
    let lines = |entry: &Entry| match &entry.event {
        Event::Noted(Note::Judged(judgement)) => judgement.variables.len(),
        _ => 0,
    };
    entries.iter().map(lines).sum()
}

/// Checks that, if a test on a purged drive was interrupted, the first segment after the interruption records
/// the gap. Returns whether the current test has a gap.
pub fn gaps(entries: &[Entry]) -> Result<bool, Found> {
    let (mut purged, mut pending, mut any) = (false, false, false);
    for entry in entries {
        match &entry.event {
            Event::TestStarted { .. } | Event::Restarted { .. } => {
                (purged, pending, any) = (false, false, false)
            }
            Event::Purged(_) => (purged, pending) = (true, false),
            Event::TestEnded { .. } => (purged, pending) = (false, false),
            Event::Resumed { .. } => pending |= purged,
            Event::Preconditioned(segment) | Event::Measured(segment) => {
                if std::mem::take(&mut pending) && segment.gap_before.is_none() {
                    return Err((Fault::Differing, format!("record {} does not mention the gap", entry.seq)));
                }
                any |= segment.gap_before.is_some();
            }
            _ => {}
        }
    }
    Ok(any)
}

/// Compares the results of a resumed run with the results of an undisturbed run, unless the resumed run has a
/// gap.
pub fn figures(document: &Value, undisturbed: &Value, has_gap: bool, simulated: bool) -> Result<(), Found> {
    let differing = |why: &str| Err((Fault::Differing, why.to_owned()));
    if document["verdict"] == "not complete" {
        return differing("the resumed run is not complete");
    }
    if has_gap != document["modified"].to_string().contains("interrupted") {
        return differing("the interruption is not reported correctly");
    }
    if simulated && !has_gap {
        for key in ["verdict", "tests", "modified"] {
            if document[key] != undisturbed[key] {
                return Err((
                    Fault::Differing,
                    format!("{key}: {} instead of {}", document[key], undisturbed[key]),
                ));
            }
        }
    }
    Ok(())
}
