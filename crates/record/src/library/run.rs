//! A run on disk.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{LibraryError, io};
use super::nascent;
use super::run_json::{MOST_RUN_FILE_BYTES, parse_run_file};
use crate::journal::read_journal_on;
use crate::storage::{self, Storage};
use crate::{Digest, Event, Journal, JournalError, Loaded, RunFile};

pub(super) const RUN_FILE: &str = "run.json";
pub(super) const JOURNAL: &str = "journal";

/// A run on disk.
#[derive(Debug, Clone)]
pub struct Run {
    /// Directory of the run.
    pub dir: PathBuf,
    /// The run file. If the run was found in its library, `labels` are its current ones; otherwise, they are those with
    /// which it was started.
    pub file: RunFile,
    /// Device and inode number of the directory from which `file` was read.
    identity: (u64, u64),
    storage: Arc<dyn Storage>,
}

impl Run {
    pub(super) const fn new(
        storage: Arc<dyn Storage>,
        dir: PathBuf,
        file: RunFile,
        identity: (u64, u64),
    ) -> Self {
        Self { dir, file, identity, storage }
    }

    /// Opens the run in `dir`, with its initial labels.
    ///
    /// # Errors
    /// Returns an error if its `run.json` is missing or invalid, or has a newer version than this build
    /// supports.
    pub fn open(dir: &Path) -> Result<Self, LibraryError> {
        Self::open_on(storage::real(), dir)
    }

    pub(super) fn open_on(storage: Arc<dyn Storage>, dir: &Path) -> Result<Self, LibraryError> {
        let path = dir.join(RUN_FILE);
        let read = || {
            let held = storage.open_folder(dir)?;
            let bytes = held.open_file(OsStr::new(RUN_FILE))?.read(MOST_RUN_FILE_BYTES)?;
            Ok((bytes, held.found()?.identity))
        };
        let (bytes, identity) = read().map_err(|e| io("read", &path, e))?;
        let file = parse_run_file(&bytes).map_err(|problem| LibraryError::BadRunFile { path, problem })?;
        Ok(Self { dir: dir.into(), file, identity, storage })
    }

    /// Returns the device and inode number of the run's directory, which distinguish it from another directory
    /// at the same path.
    #[must_use]
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Returns the path of the journal.
    #[must_use]
    pub fn journal_path(&self) -> PathBuf {
        self.dir.join(JOURNAL)
    }

    /// Returns the content of one of the run's files.
    ///
    /// # Errors
    /// Returns an error if there is no regular file of this name (symbolic links are not followed), it is longer than
    /// `limit_bytes`, or it cannot be read.
    pub fn read_file(&self, name: &str, limit_bytes: u64) -> std::io::Result<Vec<u8>> {
        self.storage.open(&self.dir.join(name))?.read(limit_bytes)
    }

    /// Same as [`read_file`](Self::read_file), for text.
    ///
    /// # Errors
    /// Same as [`read_file`](Self::read_file), and an error if the content is not UTF-8.
    pub fn read_text(&self, name: &str, limit_bytes: u64) -> std::io::Result<String> {
        let bytes = self.read_file(name, limit_bytes)?;
        String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Returns the names of the run's files, sorted.
    ///
    /// # Errors
    /// Returns an error if they cannot be listed.
    pub fn file_names(&self) -> std::io::Result<Vec<OsString>> {
        let mut names = self.storage.list(&self.dir)?;
        names.sort();
        Ok(names)
    }

    /// Returns whether the directory has the id of the run as its name.
    #[must_use]
    pub fn has_own_name(&self) -> bool {
        self.name() == self.file.id.as_str()
    }

    /// Returns the name of the run in its library, which is its id unless it was renamed.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        self.dir.file_name().unwrap_or_default()
    }

    /// Reads the journal and checks that it belongs to this `run.json`.
    ///
    /// # Errors
    /// Returns the errors of [`read_journal`](crate::read_journal), and an error if `run.json` was changed.
    pub fn load(&self) -> Result<Loaded, LibraryError> {
        let loaded = read_journal_on(&*self.storage, &self.journal_path())?;
        self.check_digest(&loaded)?;
        Ok(loaded)
    }

    /// Returns whether a process is currently working on the run.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be opened, or the file system does not support locks.
    pub fn is_in_progress(&self) -> Result<bool, LibraryError> {
        let path = self.journal_path();
        self.storage.open(&path).and_then(|journal| journal.is_locked()).map_err(|e| io("lock", &path, e))
    }

    /// Permanently removes the run. The run disappears from the library at once; then its files are deleted
    /// one by one. The remains of an interrupted removal are deleted when the next run starts.
    ///
    /// # Errors
    /// Returns an error if the run is in progress, or if its directory is a symbolic link or contains anything
    /// other than regular files; the run is then unchanged. Also returns an error if a system call fails.
    pub fn remove(self) -> Result<(), LibraryError> {
        let journal = self.journal_path();
        let held = self.storage.open(&journal).map_err(|e| io("open", &journal, e))?;
        match held.try_lock() {
            Ok(true) => nascent::remove_run(&*self.storage, &self.dir),
            Ok(false) => Err(LibraryError::InProgress { id: self.file.id }),
            Err(error) => Err(io("lock", &journal, error)),
        }
    }

    /// Opens the journal for appending.
    ///
    /// # Errors
    /// Returns the errors of [`Journal::reopen`], and an error if `run.json` was changed.
    pub fn reopen(&self) -> Result<(Journal, Loaded), LibraryError> {
        // The process that created these entries may have been killed before it synced them.
        storage::sync_above(&*self.storage, &self.journal_path()).map_err(|e| io("sync", &self.dir, e))?;
        let (journal, loaded) = Journal::reopen_on(Arc::clone(&self.storage), &self.journal_path())?;
        self.check_digest(&loaded)?;
        Ok((journal, loaded))
    }

    fn check_digest(&self, loaded: &Loaded) -> Result<(), LibraryError> {
        let path = self.dir.join(RUN_FILE);
        let bytes = self.read_file(RUN_FILE, MOST_RUN_FILE_BYTES).map_err(|e| io("read", &path, e))?;
        match loaded.entries.first().map(|entry| &entry.event) {
            Some(Event::Opened { run_sha256 }) if !Digest::of(&bytes).is(run_sha256) => {
                Err(LibraryError::ChangedRunFile { path })
            }
            Some(Event::Opened { .. }) => Ok(()),
            // Without this record, the journal is not bound to this `run.json`.
            _ => Err(JournalError::Damaged {
                path: self.journal_path(),
                seq: 0,
                problem: "the first record is not `opened`".into(),
            }
            .into()),
        }
    }
}
