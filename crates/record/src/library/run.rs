//! A run on disk.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archive::{self, ArchivedJournal, JOURNAL, RUN_FILE, Unpacker};
use super::error::{LibraryError, io};
use super::nascent;
use super::run_json::{MOST_RUN_FILE_BYTES, parse_run_file};
use crate::journal::{Detail, MOST_JOURNAL_BYTES, parse_more, parse_reader, read_journal_on};
use crate::storage::{self, Storage, Stored};
use crate::{Digest, Event, Journal, JournalError, Loaded, RunFile};

/// A run on disk.
#[derive(Debug, Clone)]
pub struct Run {
    /// The run's directory, or its archive.
    pub dir: PathBuf,
    /// The run file. If the run was found in its library, `labels` are its current labels; otherwise, they
    /// are the labels that it was started with.
    pub file: RunFile,
    /// Device and inode number of the directory or archive that `file` was read from.
    identity: (u64, u64),
    is_archived: bool,
    pub(super) storage: Arc<dyn Storage>,
}

impl Run {
    pub(super) const fn new(
        storage: Arc<dyn Storage>,
        dir: PathBuf,
        file: RunFile,
        identity: (u64, u64),
    ) -> Self {
        Self { dir, file, identity, is_archived: false, storage }
    }

    /// Opens the run in the directory or archive `dir`, with its initial labels.
    ///
    /// # Errors
    /// Returns an error if its `run.json` is missing or invalid, or has a newer version than this build can
    /// read.
    pub fn open(dir: &Path) -> Result<Self, LibraryError> {
        Self::open_on(storage::real(), dir)
    }

    pub(super) fn open_on(storage: Arc<dyn Storage>, dir: &Path) -> Result<Self, LibraryError> {
        if archive::is_at(&*storage, dir) {
            return Self::open_archive(storage, dir);
        }
        let path = dir.join(RUN_FILE);
        let read = || {
            let held = storage.open_folder(dir)?;
            let bytes = held.open_file(OsStr::new(RUN_FILE))?.read(MOST_RUN_FILE_BYTES)?;
            Ok((bytes, held.found()?.identity))
        };
        let (bytes, identity) = read().map_err(|e| io("read", &path, e))?;
        let file = parse_run_file(&bytes).map_err(|problem| LibraryError::BadRunFile { path, problem })?;
        Ok(Self { dir: dir.into(), file, identity, is_archived: false, storage })
    }

    /// Opens the run in the archive at `path`, whatever the archive is called.
    pub(super) fn open_archive(storage: Arc<dyn Storage>, path: &Path) -> Result<Self, LibraryError> {
        let read = || {
            let mut stored = storage.open(path)?;
            let identity = stored.found()?.identity;
            Ok((read_from(&mut *stored, RUN_FILE, MOST_RUN_FILE_BYTES)?, identity))
        };
        let (bytes, identity) = read().map_err(|e| io("read", path, e))?;
        let file = parse_run_file(&bytes)
            .map_err(|problem| LibraryError::BadRunFile { path: path.into(), problem })?;
        Ok(Self { dir: path.into(), file, identity, is_archived: true, storage })
    }

    /// Returns whether the run is archived. Everything about it can be read, but its files cannot be changed.
    #[must_use]
    pub const fn is_archived(&self) -> bool {
        self.is_archived
    }

    /// Rejects an archived run, because its files cannot be changed.
    ///
    /// # Errors
    /// Returns an error if the run is archived.
    pub fn check_changeable(&self) -> Result<(), LibraryError> {
        match self.is_archived {
            true => Err(LibraryError::Archived { id: self.file.id.clone() }),
            false => Ok(()),
        }
    }

    /// Returns the device and inode number of the run's directory or archive, which distinguish it from another
    /// one at the same path.
    #[must_use]
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Returns the path of the journal, or of the archive that contains it.
    #[must_use]
    pub fn journal_path(&self) -> PathBuf {
        if self.is_archived { self.dir.clone() } else { self.dir.join(JOURNAL) }
    }

    /// Returns the length of the journal without reading it, even if the run is archived.
    ///
    /// # Errors
    /// Returns an error if there is no journal, or the archive cannot be read.
    pub fn journal_bytes(&self) -> std::io::Result<u64> {
        if !self.is_archived {
            return Ok(self.storage.open(&self.journal_path())?.extent()?.bytes);
        }
        let mut stored = self.storage.open(&self.dir)?;
        let mut archive = Unpacker::new(&mut *stored)?;
        while let Some((name, bytes)) = archive.next_file()? {
            if name == JOURNAL {
                return Ok(bytes);
            }
        }
        Err(ErrorKind::NotFound.into())
    }

    /// Returns a reader of the journal's unverified bytes, and their number. The reader keeps only a small part in
    /// memory. For an archived run, the reader returns an error at the end if the archive is damaged.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be opened, or is longer than any real journal.
    pub fn journal_reader(&self) -> std::io::Result<(Box<dyn Read + Send>, u64)> {
        let stored = self.storage.open(&self.journal_path())?;
        if self.is_archived {
            let (journal, bytes) = ArchivedJournal::open(stored)?;
            return Ok((Box::new(journal), bytes));
        }
        let bytes = stored.extent()?.bytes;
        Ok((Box::new(stored.into_reader(MOST_JOURNAL_BYTES)?), bytes))
    }

    /// Returns the content of one of the run's files.
    ///
    /// # Errors
    /// Returns an error if the run has no regular file with this name (symbolic links are not followed), or if the file
    /// cannot be read or is longer than `limit_bytes`.
    pub fn read_file(&self, name: &str, limit_bytes: u64) -> std::io::Result<Vec<u8>> {
        if self.is_archived {
            return read_from(&mut *self.storage.open(&self.dir)?, name, limit_bytes);
        }
        self.storage.open(&self.dir.join(name))?.read(limit_bytes)
    }

    /// Same as [`read_file`](Self::read_file), but for a text file.
    ///
    /// # Errors
    /// Returns the same errors as [`read_file`](Self::read_file), and an error if the content is not UTF-8.
    pub fn read_text(&self, name: &str, limit_bytes: u64) -> std::io::Result<String> {
        let bytes = self.read_file(name, limit_bytes)?;
        String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Returns the names of the run's files, sorted.
    ///
    /// # Errors
    /// Returns an error if the files cannot be listed.
    pub fn file_names(&self) -> std::io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        if self.is_archived {
            let mut stored = self.storage.open(&self.dir)?;
            let mut archive = Unpacker::new(&mut *stored)?;
            while let Some((name, _)) = archive.next_file()? {
                names.push(name);
            }
        } else {
            names = self.storage.list(&self.dir)?;
        }
        names.sort();
        Ok(names)
    }

    /// Returns whether the directory's name is the run's id.
    #[must_use]
    pub fn has_own_name(&self) -> bool {
        self.name() == self.file.id.as_str()
    }

    /// Returns the name of the run in its library, which is its id unless it was renamed.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        let name = self.dir.file_name().unwrap_or_default();
        if self.is_archived { archive::run_in(name).unwrap_or(name) } else { name }
    }

    /// Returns the path of the run's directory, even if the run is archived. Unarchiving creates it.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.dir.with_file_name(self.name())
    }

    /// Returns the path that the directory or archive would have if it were named after the run's id.
    #[must_use]
    pub fn own_path(&self) -> PathBuf {
        let id = OsStr::new(&self.file.id);
        match self.is_archived {
            true => self.dir.with_file_name(archive::name_of(id)),
            false => self.dir.with_file_name(id),
        }
    }

    /// Reads the journal and checks that it belongs to this `run.json`.
    ///
    /// # Errors
    /// Returns the same errors as [`read_journal`](crate::read_journal), and an error if `run.json` was
    /// changed.
    pub fn load(&self) -> Result<Loaded, LibraryError> {
        self.load_detail(Detail::All)
    }

    /// Same as [`load`](Self::load), but reads only as much as `detail` says.
    ///
    /// # Errors
    /// Same as [`load`](Self::load).
    pub fn load_detail(&self, detail: Detail) -> Result<Loaded, LibraryError> {
        let path = self.journal_path();
        let loaded = if self.is_archived {
            let mut stored = self.storage.open(&path).map_err(|e| io("open", &path, e))?;
            let mut archive = Unpacker::new(&mut *stored).map_err(|e| io("read", &path, e))?;
            archive.seek(OsStr::new(JOURNAL), MOST_JOURNAL_BYTES).map_err(|e| io("read", &path, e))?;
            let loaded = parse_reader(&mut archive, &path, detail)?;
            // Nothing may follow the journal, and the checksum is at the end.
            archive.next_file().map_err(|e| io("read", &path, e))?;
            loaded
        } else {
            read_journal_on(&*self.storage, &path, detail)?
        };
        self.check_digest(&loaded)?;
        Ok(loaded)
    }

    /// Same as [`load`](Self::load), but reads only the records that were appended since `known` was read from this run, and
    /// checks that they continue it. For observers, who read a journal whenever it grows; a change to the known records
    /// is noticed only if nothing was appended.
    ///
    /// # Errors
    /// Same as [`load`](Self::load).
    pub fn load_more(&self, known: Loaded) -> Result<Loaded, LibraryError> {
        let (path, records) = (self.journal_path(), known.entries.len());
        let appended = || {
            let mut stored = self.storage.open(&path).ok()?;
            let mut rest = stored.reader_from(known.whole_bytes(), MOST_JOURNAL_BYTES).ok()?;
            parse_more(known, &mut rest, &path).ok()
        };
        let loaded = if self.is_archived { None } else { appended() };
        match loaded.filter(|loaded| loaded.entries.len() > records) {
            Some(loaded) => self.check_digest(&loaded).map(|()| loaded),
            // Reading the whole journal shows what has happened to it.
            None => self.load(),
        }
    }

    /// Returns whether a process is currently working on the run.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be opened, or the file system does not support locks.
    pub fn is_in_progress(&self) -> Result<bool, LibraryError> {
        self.is_held(|journal| journal.is_locked())
    }

    /// Same as [`is_in_progress`](Self::is_in_progress), but never waits, for observers that ask again: just after a process
    /// was killed, a run can appear to be in progress for a moment.
    ///
    /// # Errors
    /// Same as [`is_in_progress`](Self::is_in_progress).
    pub fn appears_in_progress(&self) -> Result<bool, LibraryError> {
        self.is_held(|journal| journal.is_locked_now())
    }

    fn is_held(
        &self,
        query: impl FnOnce(&dyn Stored) -> std::io::Result<bool>,
    ) -> Result<bool, LibraryError> {
        if self.is_archived {
            return Ok(false);
        }
        let path = self.journal_path();
        self.storage.open(&path).and_then(|journal| query(&*journal)).map_err(|e| io("lock", &path, e))
    }

    /// Permanently removes the run. The run disappears from the library at once; then its files are deleted
    /// one by one. The remains of an interrupted removal are deleted when the next run starts.
    ///
    /// # Errors
    /// Returns an error, and leaves the run unchanged, if the run is in progress, or if its directory is a
    /// symbolic link or contains anything other than regular files. Also returns an error if a system call fails.
    pub fn remove(self) -> Result<(), LibraryError> {
        let journal = self.journal_path();
        let held = self.storage.open(&journal).map_err(|e| io("open", &journal, e))?;
        match held.try_lock() {
            Ok(true) if self.is_archived => nascent::remove_file(&*self.storage, &self.dir),
            Ok(true) => {
                self.remove_archive()?;
                nascent::remove_run(&*self.storage, &self.dir, |_| Ok(true))
            }
            Ok(false) => Err(LibraryError::InProgress { id: self.file.id }),
            Err(error) => Err(io("lock", &journal, error)),
        }
    }

    /// Removes the same run's archive next to its directory; otherwise, the archive would take the place of the
    /// removed directory.
    fn remove_archive(&self) -> Result<(), LibraryError> {
        let archive = nascent::root_of(&self.dir).join(archive::name_of(self.name()));
        let is_same = || {
            let archived = Self::open_archive(Arc::clone(&self.storage), &archive);
            archived.is_ok_and(|archived| archived.file.id == self.file.id)
        };
        if archive::is_at(&*self.storage, &archive) && is_same() {
            nascent::remove_file(&*self.storage, &archive)?;
        }
        Ok(())
    }

    /// Opens the journal for appending.
    ///
    /// # Errors
    /// Returns the same errors as [`Journal::reopen`], and an error if `run.json` was changed.
    pub fn reopen(&self) -> Result<(Journal, Loaded), LibraryError> {
        self.check_changeable()?;
        // The process that created these directory entries may have been killed before it synced them.
        self.sync_entries()?;
        let (journal, loaded) = Journal::reopen_on(Arc::clone(&self.storage), &self.journal_path())?;
        self.check_digest(&loaded)?;
        Ok((journal, loaded))
    }

    /// Returns once the directory entries of the run and of its files are on disk.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be synced.
    pub fn sync_entries(&self) -> Result<(), LibraryError> {
        storage::sync_above(&*self.storage, &self.journal_path()).map_err(|e| io("sync", &self.dir, e))
    }

    fn check_digest(&self, loaded: &Loaded) -> Result<(), LibraryError> {
        let path = if self.is_archived { self.dir.clone() } else { self.dir.join(RUN_FILE) };
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

/// Returns the content of one file in an archive.
fn read_from(archive: &mut dyn Stored, name: &str, limit_bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut archive = Unpacker::new(archive)?;
    archive.seek(OsStr::new(name), limit_bytes)?;
    let mut bytes = Vec::new();
    archive.read_to_end(&mut bytes)?;
    Ok(bytes)
}
