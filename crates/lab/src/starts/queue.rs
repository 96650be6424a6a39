//! The file of queued runs, which one server uses at a time.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use launch::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stdx::files::{OwnedFolder, ReadError, try_lock};

use super::entry::{Entry, Stage};
use crate::error::ServeError;

const FILE: &str = "queue.json";
/// Name of the file while it is being written.
const NEXT: &str = "queue.json.next";
/// The server that uses the folder holds a lock on this file. The lock ends with its process.
const LOCK: &str = "lock";
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

/// The file of queued runs.
pub struct Queue {
    folder: PathBuf,
    /// The lock on the folder; None on a read-only file system, where no server can write to the file.
    _lock: Option<File>,
    /// Whether the file is in use by another server.
    is_foreign: bool,
}

impl Queue {
    /// Claims the folder until this queue is dropped.
    ///
    /// # Errors
    /// Returns an error if the lock cannot be taken, or if another server uses the folder: each of them would
    /// overwrite the other's queue and start its runs again.
    pub fn open(folder: &Path) -> Result<Self, ServeError> {
        let path = folder.join(LOCK);
        let taken = || -> std::io::Result<Option<File>> {
            let lock = OwnedFolder::make(folder)?.make_file(LOCK)?;
            Ok(try_lock(&lock)?.then_some(lock))
        };
        let lock = match taken() {
            Ok(Some(lock)) => Some(lock),
            Ok(None) => return Err(ServeError::InUse { path }),
            Err(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => None,
            Err(source) => return Err(ServeError::Lock { path, source }),
        };
        Ok(Self { folder: folder.into(), _lock: lock, is_foreign: false })
    }

    /// Creates an empty queue for a read-only server that runs in addition to the server that uses the folder.
    pub fn beside(folder: &Path) -> Self {
        Self { folder: folder.into(), _lock: None, is_foreign: true }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the queued entries; none if there is no file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be trusted, read or parsed. Such a file must not count as empty: the
    /// next change would replace it, and all its runs would be lost.
    pub fn read(&self) -> Result<Vec<Entry>, ServeError> {
        if self.is_foreign { Ok(Vec::new()) } else { read(&self.folder) }
    }

    /// Stores the queued entries.
    pub fn write(&self, entries: &[Entry]) -> Result<(), String> {
        if self.is_foreign {
            return Err(format!("{} belongs to another server", self.folder.join(FILE).display()));
        }
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

/// Returns the queued entries in a folder.
pub fn read(at: &Path) -> Result<Vec<Entry>, ServeError> {
    let read = || -> std::io::Result<Vec<Stored>> {
        let Some(folder) = OwnedFolder::open(at)? else { return Ok(Vec::new()) };
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
    let failed = |source| ServeError::Queue { path: at.join(FILE), source };
    Ok(read().map_err(failed)?.into_iter().map(entry).collect())
}
