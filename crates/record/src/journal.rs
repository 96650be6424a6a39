//! The append-only file behind a run: one hashed line per event, on disk before anyone is told.
//!
//! First line: `plateau-journal 1`. Every further line: 64 hexadecimal digits, a space, an [`Entry`]
//! as JSON. The digits are SHA-256 over the digits of the previous line (for the first: those of SHA-256 over the
//! header line) and the JSON, so a changed, lost or swapped line breaks the chain from there on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use stdx::files::ReadError;

use crate::amounts::Amounts;
use crate::plain::{may_be_unprintable, plain};
use crate::storage::{self, Storage, Stored};
use crate::{Entry, Event};

/// Version that this build writes; older ones are read, newer ones refused.
pub const VERSION: u32 = 1;
/// What every journal begins with.
pub const MAGIC: &str = "plateau-journal ";
/// Far more than any run writes; a file that is larger is not read into memory.
const MOST_BYTES: u64 = 1 << 30;
/// Added to the name of a journal: a copy of all records, written when the journal itself is no longer at its path.
const RESCUED: &str = ".rescued";

/// What can go wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Not a journal.
    #[error("{} is not a Plateau journal: its first line is not '{MAGIC}N'", path.display())]
    NotAJournal {
        /// Where.
        path: PathBuf,
    },
    /// Written by a newer Plateau.
    #[error(
        "{} has journal version {found}; this Plateau reads up to {VERSION}: use the Plateau that wrote it, or a newer one",
        path.display()
    )]
    Newer {
        /// Where.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A record in the middle is damaged.
    #[error("{} is damaged at record {seq}: {problem}; restore it from a copy", path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// Record number.
        seq: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// Another process writes to it.
    #[error("{} is being written by another plateau process; wait for it, or stop it first", path.display())]
    Busy {
        /// Where.
        path: PathBuf,
    },
}

/// A last record that was not completely written when the machine stopped. It had not been shown to anyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    /// Bytes behind the last whole record.
    pub bytes: u64,
}

/// Everything in a journal.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Whole records in order.
    pub entries: Vec<Entry>,
    /// What was cut off at the end, if anything.
    pub torn: Option<TornTail>,
    /// Hash of the last record: it vouches for all before it.
    pub digest: Digest,
    whole_bytes: u64,
    /// The last whole record as it is in the file.
    last_line: Vec<u8>,
    amounts: Amounts,
}

/// A link of the hash chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Digest {
    fn next(self, json: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(self.to_string().as_bytes());
        hasher.update(json.as_bytes());
        Self(hasher.finalize().into())
    }

    /// SHA-256 of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// A journal open for appending; one process at a time.
#[derive(Debug)]
pub struct Journal {
    storage: Arc<dyn Storage>,
    file: Box<dyn Stored>,
    path: PathBuf,
    next_seq: u64,
    chain: Digest,
    /// Bytes up to which every record is whole.
    whole_bytes: u64,
    /// A part of a record may be behind them and cannot be taken away.
    is_broken: bool,
    amounts: Amounts,
}

impl Journal {
    /// Starts a new journal at `path`.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        Self::create_on(storage::real(), path)
    }

    /// The same on another storage.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_on(storage: Arc<dyn Storage>, path: &Path) -> Result<Self, JournalError> {
        let file = storage.create(path).map_err(|e| io("create", path, e))?;
        let journal = Self::begin(Arc::clone(&storage), file, path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        storage::sync_folder(&*storage, folder).map_err(|e| io("sync", folder, e))?;
        Ok(journal)
    }

    /// Starts a journal in an empty file; its caller syncs the folder.
    pub(crate) fn begin(
        storage: Arc<dyn Storage>,
        mut file: Box<dyn Stored>,
        path: &Path,
    ) -> Result<Self, JournalError> {
        lock(&*file, path)?;
        let header = format!("{MAGIC}{VERSION}\n");
        file.append(header.as_bytes()).and_then(|()| file.sync_all()).map_err(|e| io("write", path, e))?;
        let whole_bytes = header.len() as u64;
        let (path, chain) = (path.into(), Digest::of(header.as_bytes()));
        let amounts = Amounts::default();
        Ok(Self { storage, file, path, next_seq: 0, chain, whole_bytes, is_broken: false, amounts })
    }

    /// Opens a journal to go on with it; a torn last record is cut off and reported in [`Loaded`].
    ///
    /// # Errors
    /// As [`read_journal`], and when another process has it open.
    pub fn reopen(path: &Path) -> Result<(Self, Loaded), JournalError> {
        Self::reopen_on(storage::real(), path)
    }

    /// The same on another storage.
    ///
    /// # Errors
    /// As [`reopen`](Self::reopen).
    pub fn reopen_on(storage: Arc<dyn Storage>, path: &Path) -> Result<(Self, Loaded), JournalError> {
        let mut file = storage.open_to_append(path).map_err(|e| io("open", path, e))?;
        lock(&*file, path)?;
        let loaded = load(&mut *file, path)?;
        if loaded.torn.is_some() {
            file.set_len(loaded.whole_bytes).map_err(|e| io("truncate the torn end of", path, e))?;
        }
        // The last record may be that of a process that was killed before it was on disk, or whose sync failed: then the
        // kernel takes its pages for clean, and only what is written again is synced. Soon it will be shown.
        if !loaded.last_line.is_empty() {
            let at = loaded.whole_bytes - loaded.last_line.len() as u64;
            file.rewrite(at, &loaded.last_line).map_err(|e| io("write the last record again to", path, e))?;
        }
        file.sync_all().map_err(|e| io("sync", path, e))?;
        let next_seq = loaded.entries.len() as u64;
        let (path, chain, whole_bytes) = (path.into(), loaded.digest, loaded.whole_bytes);
        let amounts = loaded.amounts;
        Ok((Self { storage, file, path, next_seq, chain, whole_bytes, is_broken: false, amounts }, loaded))
    }

    /// Its folder has another name from now on.
    pub(crate) fn moved_to(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// The wall clock that records are stamped with.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        self.storage.now()
    }

    /// Appends one event and returns once it is on disk.
    ///
    /// # Errors
    /// When it could not be written, such as on a full disk. What was written of it is taken away again, so that a
    /// record behind it does not damage the journal; where that cannot be done, no further record is taken.
    pub fn append(&mut self, event: Event) -> Result<Entry, JournalError> {
        // What no reader accepts is not written.
        let mut amounts = self.amounts;
        amounts.take(&event).map_err(|why| io("append to", &self.path, std::io::Error::other(why)))?;
        let entry = Entry { seq: self.next_seq, wall: self.storage.now(), event };
        let json = serde_json::to_string(&entry).map_err(|e| io("encode", &self.path, e.into()))?;
        let chain = self.chain.next(&json);
        let line = format!("{chain} {json}\n");
        self.write(line.as_bytes()).map_err(|e| io("append to", &self.path, e))?;
        log::info!("record {} on disk: {}, {} B", self.next_seq, name_in(&json), line.len());
        (self.chain, self.amounts) = (chain, amounts);
        self.next_seq += 1;
        self.whole_bytes += line.len() as u64;
        Ok(entry)
    }

    /// Fails if the journal is no longer at its path: moved, removed or replaced by another file. Its records would
    /// be lost with the descriptor, so they are copied to a new file beside it.
    ///
    /// # Errors
    /// When that is so; no further record is accepted then.
    pub fn check_in_place(&mut self) -> Result<(), JournalError> {
        self.in_place().map_err(|e| io("append to", &self.path, e))
    }

    fn in_place(&mut self) -> std::io::Result<()> {
        // A disk that cannot be read is not a journal that was taken away; the next sync reports the former.
        let Ok(own) = self.file.found() else { return Ok(()) };
        match self.storage.look(&self.path) {
            Ok(found) if found.identity != own.identity => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            _ => return Ok(()),
        }
        self.is_broken = true;
        let taken = "it was moved, removed or replaced while the run was writing to it";
        Err(std::io::Error::other(match self.rescue() {
            Ok(copy) => format!("{taken}; all its records are in {}", copy.display()),
            Err(error) => format!("{taken}, and its records cannot be copied to a new file: {error}"),
        }))
    }

    fn rescue(&mut self) -> std::io::Result<PathBuf> {
        let bytes = self.file.read(MOST_BYTES)?;
        let mut copy = self.path.clone();
        copy.as_mut_os_string().push(RESCUED);
        let mut file = self.storage.create(&copy)?;
        file.append(&bytes)?;
        file.sync_all()?;
        storage::sync_folder(&*self.storage, copy.parent().unwrap_or(Path::new(".")))?;
        Ok(copy)
    }

    fn write(&mut self, line: &[u8]) -> std::io::Result<()> {
        if self.is_broken {
            return Err(std::io::Error::other("an earlier record could not be written"));
        }
        if self.whole_bytes + line.len() as u64 > MOST_BYTES {
            // Nobody could read what stands in it.
            return Err(ReadError::TooLarge { limit_bytes: MOST_BYTES }.into());
        }
        self.in_place()?;
        let written = self.file.append(line).and_then(|()| self.file.sync_data());
        if written.is_err() {
            let mended = self.file.set_len(self.whole_bytes).and_then(|()| self.file.sync_data());
            self.is_broken = mended.is_err();
        }
        written
    }
}

/// Reads a whole journal without changing it.
///
/// # Errors
/// When it cannot be read, is not a journal, is newer than this build, or is damaged before its end.
pub fn read_journal(path: &Path) -> Result<Loaded, JournalError> {
    read_journal_on(&storage::Real, path)
}

/// The same on another storage.
pub(crate) fn read_journal_on(storage: &dyn Storage, path: &Path) -> Result<Loaded, JournalError> {
    load(&mut *storage.open(path).map_err(|e| io("open", path, e))?, path)
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

fn load(file: &mut dyn Stored, path: &Path) -> Result<Loaded, JournalError> {
    parse_journal(&file.read(MOST_BYTES).map_err(|e| io("read", path, e))?, path)
}

/// Reads a journal from its bytes; `path` is named in errors. Strings in it are safe to show.
///
/// # Errors
/// As [`read_journal`].
pub fn parse_journal(bytes: &[u8], path: &Path) -> Result<Loaded, JournalError> {
    let mut lines = bytes.split_inclusive(|&b| b == b'\n').peekable();
    let header = lines.next().unwrap_or_default();
    let version = std::str::from_utf8(header)
        .ok()
        .and_then(|line| line.strip_prefix(MAGIC)?.strip_suffix('\n')?.parse::<u32>().ok())
        .ok_or_else(|| JournalError::NotAJournal { path: path.into() })?;
    if version > VERSION {
        return Err(JournalError::Newer { path: path.into(), found: version });
    }
    let mut loaded = Loaded {
        entries: Vec::new(),
        torn: None,
        digest: Digest::of(header),
        whole_bytes: header.len() as u64,
        last_line: Vec::new(),
        amounts: Amounts::default(),
    };
    let mut last_line: &[u8] = &[];
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        let seq = loaded.entries.len() as u64;
        let parsed = parse_line(line, seq, loaded.digest).and_then(|(entry, digest)| {
            loaded.amounts.take(&entry.event)?;
            Ok((entry, digest))
        });
        match parsed {
            Ok((entry, digest)) => {
                loaded.entries.push(entry);
                loaded.digest = digest;
                loaded.whole_bytes += line.len() as u64;
                last_line = line;
            }
            Err(_) if is_unfinished(line, is_last) => {
                loaded.torn = Some(TornTail { bytes: line.len() as u64 })
            }
            Err(problem) => return Err(JournalError::Damaged { path: path.into(), seq, problem }),
        }
    }
    loaded.last_line = last_line.to_vec();
    Ok(loaded)
}

/// Whether a line that is not whole was never on disk as a whole: at the very end it lacks its newline, or parts of it
/// that were lost with the power, which read as zeros. JSON has none.
fn is_unfinished(line: &[u8], is_last: bool) -> bool {
    is_last && (!line.ends_with(b"\n") || line.contains(&0))
}

fn entry_of(json: &str) -> Result<Entry, serde_json::Error> {
    // Almost every record is of numbers and plain words.
    if !may_be_unprintable(json) {
        return serde_json::from_str(json);
    }
    serde_json::from_value(plain(serde_json::from_str(json)?))
}

/// The name of the event in the JSON of an entry.
fn name_in(json: &str) -> &str {
    let event = json.split_once("\"event\":").map_or("", |(_, event)| event);
    event.split('"').nth(1).unwrap_or_default()
}

fn parse_line(line: &[u8], seq: u64, chain: Digest) -> Result<(Entry, Digest), String> {
    let text = std::str::from_utf8(line).map_err(|_| "not text".to_owned())?;
    let text = text.strip_suffix('\n').ok_or("incomplete")?;
    let (hash, json) = text.split_at_checked(64).ok_or("too short")?;
    let json = json.strip_prefix(' ').ok_or("no space after the hash")?;
    let digest = chain.next(json);
    if digest.to_string() != hash {
        return Err("its hash does not match: it, or a record before it, was changed".into());
    }
    let entry = entry_of(json).map_err(|e| e.to_string())?;
    if entry.seq == seq {
        Ok((entry, digest))
    } else {
        Err(format!("it is numbered as record {}", entry.seq))
    }
}

#[cfg(test)]
mod tests;
