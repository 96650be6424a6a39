//! The order in which runs start, and how their drives are identified.

use record::{TargetFacts, TargetKind};

use super::entry::{Entry, Stage};
use crate::secrets::{hex, random};

/// Limit on entries; at the limit, the oldest one that is neither waiting nor starting is dropped.
pub const MOST_ENTRIES: usize = 200;
/// Number of random bytes in the name of an entry.
const NAME_BYTES: usize = 8;

/// Returns the position and drive of a waiting entry, and what it waits for in the queue; None if it is not
/// waiting.
pub fn place(entries: &[Entry], name: &str) -> Option<(usize, Option<String>, Option<String>)> {
    let is_its = |entry: &Entry| entry.name == name && entry.stage == Stage::Waiting;
    let position = entries.iter().position(is_its)?;
    let drive = entries[position].drive.clone();
    let is_ahead = |other: &&Entry| drive.is_some() && other.drive == drive && other.stage.is_active();
    let ahead = entries[..position].iter().find(is_ahead);
    let why = ahead.map(|other| format!("the run that {} requested on this drive comes first", other.user));
    Some((position, drive, why))
}

/// Adds an entry. If there are too many, drops the oldest entry that is neither waiting nor starting.
pub fn add(entries: &mut Vec<Entry>, entry: Entry) -> Result<(), String> {
    if entries.len() >= MOST_ENTRIES {
        let oldest = entries.iter().position(|entry| !entry.stage.is_active());
        entries.remove(oldest.ok_or("too many runs are waiting or starting; withdraw some of them")?);
    }
    entries.push(entry);
    Ok(())
}

/// Identifies a drive; None for a simulated drive, because each run has its own.
pub fn drive_of(target: &TargetFacts) -> Option<String> {
    match target.kind {
        TargetKind::Simulated | TargetKind::Imported => None,
        TargetKind::File => Some(target.path.clone()),
        TargetKind::Block => Some(target.identity.clone()),
    }
}

pub fn new_name() -> Result<String, String> {
    random::<NAME_BYTES>().map(|bytes| hex(&bytes)).map_err(|error| error.to_string())
}
