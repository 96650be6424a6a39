//! A run's append-only journal: one hashed line per event, which is on disk before the event is displayed.
//!
//! The first line is `plateau-journal 1`. Every other line consists of 64 hexadecimal digits, a space and an
//! [`Entry`] as JSON. The digits are the SHA-256 of the previous line's digits followed by the JSON; for the
//! first record, the previous digits are the SHA-256 of the header line. A changed, lost or swapped line
//! therefore breaks the chain from that point on.

mod batches;
mod detail;
mod error;
mod held;
mod line;
mod loaded;
mod plain_json;
mod reading;
mod verifier;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stdx::files::ReadError;

use crate::amounts::Amounts;
use crate::chain::line_of;
use crate::storage::{self, Storage, Stored};
use crate::{Digest, Entry, Event};
use held::{Change, Held, MOST_BYTES};
use line::check_size;

pub use detail::Detail;
pub use error::JournalError;
pub use held::{MOST_BYTES as MOST_JOURNAL_BYTES, RESCUED};
pub use line::{MAGIC, MOST_LINE_BYTES, VERSION};
pub use loaded::{Loaded, TornTail};
pub(crate) use reading::{parse as parse_reader, parse_more};
pub use verifier::{Unverified, Verifier};

/// A journal open for appending, by one process at a time.
#[derive(Debug)]
pub struct Journal {
    storage: Arc<dyn Storage>,
    file: Box<dyn Stored>,
    path: PathBuf,
    next_seq: u64,
    chain: Digest,
    /// Complete records, including the header.
    held: Held,
    /// Folders where the records may be saved if the journal is lost and the library is not writable.
    refuges: Vec<PathBuf>,
    /// Set if the file may end in an incomplete record that could not be removed, or if another process changed
    /// the file.
    is_broken: bool,
    amounts: Amounts,
}

impl Journal {
    /// Creates a journal at `path`.
    ///
    /// # Errors
    /// Returns an error if the file exists or cannot be written.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        Self::create_on(storage::real(), path)
    }

    /// Same as [`create`](Self::create), but uses `storage`.
    ///
    /// # Errors
    /// Same as [`create`](Self::create).
    pub fn create_on(storage: Arc<dyn Storage>, path: &Path) -> Result<Self, JournalError> {
        let file = storage.create(path).map_err(|e| io("create", path, e))?;
        let journal = Self::begin(Arc::clone(&storage), file, path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        storage::sync_folder(&*storage, folder).map_err(|e| io("sync", folder, e))?;
        Ok(journal)
    }

    /// Starts a journal in an empty file. The caller must sync the folder.
    pub(crate) fn begin(
        storage: Arc<dyn Storage>,
        mut file: Box<dyn Stored>,
        path: &Path,
    ) -> Result<Self, JournalError> {
        lock(&*file, path)?;
        let header = format!("{MAGIC}{VERSION}\n");
        file.append(header.as_bytes()).and_then(|()| file.sync_all()).map_err(|e| io("write", path, e))?;
        let chain = Digest::of(header.as_bytes());
        let held = Held::of(header.into_bytes());
        let (path, refuges, amounts) = (path.into(), Vec::new(), Amounts::default());
        Ok(Self { storage, file, path, next_seq: 0, chain, held, refuges, is_broken: false, amounts })
    }

    /// Opens an existing journal for appending. Removes an incomplete last record and reports it in [`Loaded`].
    ///
    /// # Errors
    /// Returns the same errors as [`read_journal`], and an error if another process has the journal open for
    /// writing.
    pub fn reopen(path: &Path) -> Result<(Self, Loaded), JournalError> {
        Self::reopen_on(storage::real(), path)
    }

    /// Same as [`reopen`](Self::reopen), but uses `storage`.
    ///
    /// # Errors
    /// Same as [`reopen`](Self::reopen).
    pub fn reopen_on(storage: Arc<dyn Storage>, path: &Path) -> Result<(Self, Loaded), JournalError> {
        let mut file = storage.open_to_append(path).map_err(|e| io("open", path, e))?;
        lock(&*file, path)?;
        let mut bytes = file.read(MOST_BYTES).map_err(|e| io("read", path, e))?;
        let loaded = parse_journal(&bytes, path)?;
        if loaded.torn.is_some() {
            file.set_len(loaded.whole_bytes).map_err(|e| io("truncate the torn end of", path, e))?;
            bytes.truncate(usize::try_from(loaded.whole_bytes).unwrap_or(usize::MAX));
        }
        // The last record must be durable before it is shown. The previous writer may have been killed before
        // it synced the record, or the sync may have failed; after a failed sync, the kernel considers the
        // pages clean. Rewrite the record so that the next sync covers it.
        if !loaded.last_line.is_empty() {
            let at = loaded.whole_bytes - loaded.last_line.len() as u64;
            file.rewrite(at, &loaded.last_line).map_err(|e| io("write the last record again to", path, e))?;
        }
        file.sync_all().map_err(|e| io("sync", path, e))?;
        let next_seq = loaded.entries.len() as u64;
        let held = Held::of(bytes);
        let (path, refuges, chain, amounts) = (path.into(), Vec::new(), loaded.digest, loaded.amounts);
        Ok((Self { storage, file, path, next_seq, chain, held, refuges, is_broken: false, amounts }, loaded))
    }

    /// Updates the path after the folder was renamed.
    pub(crate) fn moved_to(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// Sets folders where the records may be saved if the journal is lost and neither the run's directory nor
    /// the library is writable.
    pub fn set_refuges(&mut self, folders: Vec<PathBuf>) {
        self.refuges = folders;
    }

    /// Returns the wall-clock time used to timestamp records.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        self.storage.now()
    }

    /// Appends one event and returns once it is on disk.
    ///
    /// # Errors
    /// Returns an error if the write fails, such as on a full disk. In that case, the partial record is
    /// removed, because a record after it would make the journal unreadable; if it cannot be removed, the
    /// journal accepts no further records.
    pub fn append(&mut self, event: Event) -> Result<Entry, JournalError> {
        // Do not write a record that no reader would accept.
        let mut amounts = self.amounts;
        amounts.take(&event).map_err(|why| io("append to", &self.path, std::io::Error::other(why)))?;
        let entry = Entry { seq: self.next_seq, wall: self.storage.now(), event };
        let json = serde_json::to_string(&entry).map_err(|e| io("encode", &self.path, e.into()))?;
        check_size(&json).map_err(|why| io("append to", &self.path, std::io::Error::other(why)))?;
        let (line, chain) = line_of(&json, self.chain);
        self.write(line.as_bytes()).map_err(|e| io("append to", &self.path, e))?;
        log::info!("record {} on disk: {}, {} B", self.next_seq, name_in(&json), line.len());
        (self.chain, self.amounts) = (chain, amounts);
        self.next_seq += 1;
        Ok(entry)
    }

    /// Reads the whole file and checks whether another process changed the journal or moved it. If so, the
    /// journal's records would be lost when the run ends, so they are copied to a new file. The new file is
    /// created next to the journal or, if that fails, in the library or one of the
    /// [refuges](Self::set_refuges).
    ///
    /// # Errors
    /// Returns an error if the journal was changed or is no longer at its path. In that case, the journal
    /// accepts no further records.
    pub fn check_in_place(&mut self) -> Result<(), JournalError> {
        let checked = self.usable().and_then(|()| self.in_place()).and_then(|()| {
            self.held.change_of_content(&mut *self.file).map_or(Ok(()), |change| Err(self.give_up(change)))
        });
        checked.map_err(|e| io("append to", &self.path, e))
    }

    fn usable(&self) -> std::io::Result<()> {
        if self.is_broken {
            Err(std::io::Error::other("an earlier record could not be written"))
        } else {
            Ok(())
        }
    }

    fn in_place(&mut self) -> std::io::Result<()> {
        let change = if self.is_gone() { Some(Change::Gone) } else { self.held.change_of(&mut *self.file) };
        change.map_or(Ok(()), |change| Err(self.give_up(change)))
    }

    fn is_gone(&self) -> bool {
        // An error here means that the disk failed, not that the journal was moved; the next sync reports it.
        let Ok(own) = self.file.found() else { return false };
        match self.storage.look(&self.path) {
            Ok(found) => found.identity != own.identity,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// Copies the records to a new file and accepts no further records.
    fn give_up(&mut self, change: Change) -> std::io::Error {
        self.is_broken = true;
        let saved = self.held.rescue(&*self.storage, &mut *self.file, &self.path, &self.refuges);
        std::io::Error::other(format!("{change}; {saved}"))
    }

    fn write(&mut self, line: &[u8]) -> std::io::Result<()> {
        self.usable()?;
        let whole_bytes = self.held.length();
        if whole_bytes + line.len() as u64 > MOST_BYTES {
            // No reader accepts a larger journal.
            return Err(ReadError::TooLarge { limit_bytes: MOST_BYTES }.into());
        }
        self.in_place()?;
        let written = self.file.append(line).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // If another process has truncated the file in the meantime, restoring the old length would pad it with
            // zeros.
            if let Ok(found) = self.file.extent().map(|extent| extent.bytes)
                && found < whole_bytes
            {
                return Err(self.give_up(Change::Length { found, written: whole_bytes }));
            }
            let truncated = self.file.set_len(whole_bytes).and_then(|()| self.file.sync_data());
            self.is_broken = truncated.is_err();
            return Err(error);
        }
        self.held.add(line);
        // If another process changed the file between the check and the write, the record is in the wrong
        // place.
        self.held.settle(&*self.file).map_or(Ok(()), |change| Err(self.give_up(change)))
    }
}

/// Reads a whole journal without changing it.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a journal, has a newer version than this build
/// can read, or is damaged before its end.
pub fn read_journal(path: &Path) -> Result<Loaded, JournalError> {
    read_journal_on(&storage::Real, path, Detail::All)
}

/// Same as [`read_journal`], but uses `storage`.
pub(crate) fn read_journal_on(
    storage: &dyn Storage,
    path: &Path,
    detail: Detail,
) -> Result<Loaded, JournalError> {
    load(&mut *storage.open(path).map_err(|e| io("open", path, e))?, path, detail)
}

fn io(action: &'static str, path: &Path, source: std::io::Error) -> JournalError {
    JournalError::Io { action, path: path.into(), source }
}

fn lock(file: &dyn Stored, path: &Path) -> Result<(), JournalError> {
    match file.try_lock() {
        Ok(true) => Ok(()),
        Ok(false) => Err(JournalError::Busy { path: path.into() }),
        Err(e) => Err(io("lock", path, e)),
    }
}

fn load(file: &mut dyn Stored, path: &Path, detail: Detail) -> Result<Loaded, JournalError> {
    let failed = |e| io("read", path, e);
    parse_reader(&mut file.reader(MOST_BYTES).map_err(failed)?, path, detail)
}

/// Parses a journal; `path` is used in error messages. Strings in the result are safe to print.
///
/// # Errors
/// Same as [`read_journal`].
pub fn parse_journal(bytes: &[u8], path: &Path) -> Result<Loaded, JournalError> {
    let mut rest = bytes;
    parse_reader(&mut rest, path, Detail::All)
}

/// Returns the name of the event in an entry's JSON.
fn name_in(json: &str) -> &str {
    let event = json.split_once("\"event\":").map_or("", |(_, event)| event);
    event.split('"').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests;
