//! The file of queued runs.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use launch::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stdx::files::{OwnedFolder, ReadError};

use super::entry::{Entry, Stage};
use crate::error::ServeError;

const FILE: &str = "queue.json";
/// Name of the file while it is being written.
const NEXT: &str = "queue.json.next";
const MOST_FILE_BYTES: u64 = 64 << 20;

/// An entry as stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    name: String,
    user: String,
    at: Timestamp,
    request: Request,
    document: Value,
    drive: Option<String>,
}

/// The file.
pub struct Queue {
    folder: PathBuf,
}

impl Queue {
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.into() }
    }

    /// The queued entries; none if there is no file.
    ///
    /// # Errors
    /// If the file cannot be trusted, read or parsed. It must not count as empty: the next change would replace it, and
    /// all runs in it would be lost.
    pub fn read(&self) -> Result<Vec<Entry>, ServeError> {
        let read = || -> std::io::Result<Vec<Stored>> {
            let Some(folder) = OwnedFolder::open(&self.folder)? else { return Ok(Vec::new()) };
            let Some(file) = folder.file(FILE)? else { return Ok(Vec::new()) };
            let mut bytes = Vec::new();
            file.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > MOST_FILE_BYTES {
                return Err(ReadError::TooLarge { limit_bytes: MOST_FILE_BYTES }.into());
            }
            Ok(serde_json::from_slice(&bytes)?)
        };
        let entry = |stored: Stored| Entry {
            name: stored.name,
            user: stored.user,
            at: stored.at,
            request: stored.request,
            document: stored.document,
            checks: Value::Null,
            drive: stored.drive,
            stage: Stage::Waiting,
            waits_for: None,
            warnings: Vec::new(),
        };
        let failed = |source| ServeError::Queue { path: self.folder.join(FILE), source };
        Ok(read().map_err(failed)?.into_iter().map(entry).collect())
    }

    /// Stores the queued entries.
    pub fn write(&self, entries: &[Entry]) -> Result<(), String> {
        let waiting = entries.iter().filter(|entry| entry.stage == Stage::Waiting);
        let stored: Vec<Stored> = waiting
            .map(|entry| Stored {
                name: entry.name.clone(),
                user: entry.user.clone(),
                at: entry.at,
                request: entry.request.clone(),
                document: entry.document.clone(),
                drive: entry.drive.clone(),
            })
            .collect();
        let written = || -> std::io::Result<()> {
            let folder = OwnedFolder::make(&self.folder)?;
            folder.remove(NEXT)?;
            let mut file = folder.new_file(NEXT)?;
            file.write_all(&serde_json::to_vec(&stored)?)?;
            file.sync_all()?;
            folder.rename(NEXT, FILE)?;
            Ok(folder.sync()?)
        };
        written().map_err(|error| format!("{} cannot be written: {error}", self.folder.join(FILE).display()))
    }
}
