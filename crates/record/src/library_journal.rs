//! A library's journal, `library.journal`, which contains the annotations of its runs.
//!
//! It has the format of a run's journal, but its first line is `plateau-library-journal 1` and its records are
//! [`Annotation`]s. It is untrusted input.

use std::io;
use std::path::{Path, PathBuf};

use crate::chain::{Digest, is_unfinished, json_in, line_of, version_in};
use crate::plain::{may_be_unprintable, plain};
use crate::storage::{self, Storage, Stored};
use crate::{Annotation, Annotations, Change, JournalError};

/// Name of the journal in a library's folder.
pub const LIBRARY_JOURNAL: &str = "library.journal";
const MAGIC: &str = "plateau-library-journal ";
const VERSION: u32 = 1;
/// Size limit for the file: 200,000 records of 300 B, which is twenty for each run in a large library.
const MOST_BYTES: u64 = 64 << 20;
/// Length limit for a string in a record.
const MOST_TEXT_BYTES: usize = 4096;
/// Number of attempts to take the lock. Each attempt waits for a quarter of a second; other processes hold the lock
/// only during a write.
const ATTEMPTS: u32 = 20;

/// Errors in a library's journal.
#[derive(Debug, thiserror::Error)]
pub enum LibraryJournalError {
    /// The file is not a library's journal.
    #[error("{} is not the journal of a library: its first line is not '{MAGIC}N'; restore it from a copy, or move it away", path.display())]
    NotALibraryJournal {
        /// The file.
        path: PathBuf,
    },
    /// The journal was written by a newer version of Plateau.
    #[error("{} has version {found}; this version of Plateau reads up to version {VERSION}: use a newer one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the journal.
        found: u32,
    },
    /// A change contains a string that cannot be stored.
    #[error("{text:?} cannot be stored: it is empty, longer than {MOST_TEXT_BYTES} B, or not on one line")]
    BadText {
        /// The text.
        text: String,
    },
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The content of a journal.
#[derive(Debug)]
struct Loaded {
    annotations: Annotations,
    records: u64,
    chain: Digest,
    /// Length of the complete records.
    whole_bytes: u64,
}

fn header() -> String {
    format!("{MAGIC}{VERSION}\n")
}

/// Reads the journal at `path`. A missing journal counts as empty.
///
/// # Errors
/// Returns an error if the file cannot be read, is not the journal of a library, is newer than this
/// build, or is damaged before its end.
pub(crate) fn read(storage: &dyn Storage, path: &Path) -> Result<Annotations, LibraryJournalError> {
    read_with_end(storage, path).map(|(annotations, _)| annotations)
}

/// Same as [`read`], but also returns the length in bytes of an incomplete last record, which the next writer
/// removes.
///
/// # Errors
/// Same as [`read`].
pub(crate) fn read_with_end(
    storage: &dyn Storage,
    path: &Path,
) -> Result<(Annotations, u64), LibraryJournalError> {
    let Some(bytes) = bytes_of(storage, path)? else { return Ok((Annotations::default(), 0)) };
    let loaded = parse(&bytes, path, |_| ())?;
    Ok((loaded.annotations, bytes.len() as u64 - loaded.whole_bytes))
}

/// Returns the records of the journal at `path`, in order. A missing journal counts as empty.
///
/// # Errors
/// Same as [`read`].
pub(crate) fn records(storage: &dyn Storage, path: &Path) -> Result<Vec<Annotation>, LibraryJournalError> {
    let mut all = Vec::new();
    if let Some(bytes) = bytes_of(storage, path)? {
        parse(&bytes, path, |annotation| all.push(annotation.clone()))?;
    }
    Ok(all)
}

fn bytes_of(storage: &dyn Storage, path: &Path) -> Result<Option<Vec<u8>>, LibraryJournalError> {
    let mut file = match storage.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| io("open", path, error))?,
    };
    file.read(MOST_BYTES).map(Some).map_err(|error| io("read", path, error))
}

/// Calls `decide` with the current state, appends the resulting changes, and returns the new state once they are on
/// disk. No other process can change the journal in the meantime.
///
/// # Errors
/// Returns the errors of [`read`] and `decide`, and an error if the journal cannot be written. A partly written
/// record is removed.
pub(crate) fn append<E: From<LibraryJournalError>>(
    storage: &dyn Storage,
    path: &Path,
    who: &str,
    decide: impl FnOnce(&Annotations) -> Result<Vec<Change>, E>,
) -> Result<Annotations, E> {
    let mut file = open_to_append(storage, path).map_err(LibraryJournalError::from)?;
    let bytes = file.read(MOST_BYTES).map_err(|error| E::from(io("read", path, error)))?;
    let mut loaded = parse(&bytes, path, |_| ())?;
    let changes = decide(&loaded.annotations)?;
    if changes.is_empty() {
        return Ok(loaded.annotations);
    }
    write(storage, &mut *file, path, bytes.len() as u64, who, changes, &mut loaded)?;
    Ok(loaded.annotations)
}

fn open_to_append(storage: &dyn Storage, path: &Path) -> Result<Box<dyn Stored>, JournalError> {
    let failed = |action| move |error| JournalError::Io { action, path: path.into(), source: error };
    match storage.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => drop(created.map_err(failed("create"))?),
    }
    let file = storage.open_to_append(path).map_err(failed("open"))?;
    for _ in 0..ATTEMPTS {
        if file.try_lock().map_err(failed("lock"))? {
            return Ok(file);
        }
    }
    Err(JournalError::Busy { path: path.into() })
}

fn write(
    storage: &dyn Storage,
    file: &mut dyn Stored,
    path: &Path,
    found_bytes: u64,
    who: &str,
    changes: Vec<Change>,
    loaded: &mut Loaded,
) -> Result<(), LibraryJournalError> {
    let is_new = loaded.whole_bytes == 0;
    let mut text = if is_new { header() } else { String::new() };
    for change in changes {
        let bad = std::iter::once(who).chain(change.texts()).find(|text| !is_storable(text));
        if let Some(text) = bad {
            return Err(LibraryJournalError::BadText { text: text.to_owned() });
        }
        let annotation = Annotation { seq: loaded.records, wall: storage.now(), who: who.into(), change };
        let json = serde_json::to_string(&annotation).map_err(|error| io("encode", path, error.into()))?;
        let (line, link) = line_of(&json, loaded.chain);
        text.push_str(&line);
        loaded.annotations.add(annotation, link);
        (loaded.records, loaded.chain) = (loaded.records + 1, link);
    }
    if loaded.whole_bytes + text.len() as u64 > MOST_BYTES {
        return Err(io("append to", path, io::Error::from(io::ErrorKind::FileTooLarge)));
    }
    if found_bytes > loaded.whole_bytes {
        file.set_len(loaded.whole_bytes).map_err(|error| io("remove the incomplete end of", path, error))?;
    }
    let written = file.append(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Any record after a partly written one would make the journal unreadable. If this fails too, the next writer
        // finds an incomplete last record and removes it.
        let _ = file.set_len(loaded.whole_bytes);
        return Err(io("append to", path, error));
    }
    if is_new {
        let folder = path.parent().unwrap_or(Path::new("."));
        storage::sync_folder(storage, folder).map_err(|error| io("sync", folder, error))?;
    }
    Ok(())
}

fn is_storable(text: &str) -> bool {
    !text.is_empty() && text.len() <= MOST_TEXT_BYTES && !text.chars().any(stdx::text::is_unprintable)
}

/// Calls `look` with each record.
fn parse(
    bytes: &[u8],
    path: &Path,
    mut look: impl FnMut(&Annotation),
) -> Result<Loaded, LibraryJournalError> {
    let mut loaded = Loaded {
        annotations: Annotations::default(),
        records: 0,
        chain: Digest::of(header().as_bytes()),
        whole_bytes: 0,
    };
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
    let first = lines.next().unwrap_or_default();
    // The first writer may have been killed before the header was complete; a power cut may leave zeros in its
    // place.
    let written = &bytes[..bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)];
    if header().as_bytes().starts_with(written) && written != header().as_bytes() {
        return Ok(loaded);
    }
    match version_in(first, MAGIC) {
        Some(VERSION) => {}
        Some(found) if found > VERSION => {
            return Err(LibraryJournalError::Newer { path: path.into(), found });
        }
        _ => return Err(LibraryJournalError::NotALibraryJournal { path: path.into() }),
    }
    loaded.whole_bytes = first.len() as u64;
    while let Some(line) = lines.next() {
        match annotation_in(line, &loaded) {
            Ok((annotation, link)) => {
                look(&annotation);
                loaded.annotations.add(annotation, link);
                (loaded.records, loaded.chain) = (loaded.records + 1, link);
                loaded.whole_bytes += line.len() as u64;
            }
            Err(_) if is_unfinished(line, lines.peek().is_none()) => {}
            Err(problem) => {
                return Err(JournalError::Damaged { path: path.into(), seq: loaded.records, problem }.into());
            }
        }
    }
    Ok(loaded)
}

fn annotation_in(line: &[u8], loaded: &Loaded) -> Result<(Annotation, Digest), String> {
    let (json, link) = json_in(line, loaded.chain)?;
    let plain = if may_be_unprintable(json) { plain(json) } else { json.to_owned() };
    let annotation: Annotation = serde_json::from_str(&plain).map_err(|error| error.to_string())?;
    if annotation.seq == loaded.records {
        Ok((annotation, link))
    } else {
        Err(format!("it is numbered as record {}", annotation.seq))
    }
}

fn io(action: &'static str, path: &Path, source: io::Error) -> LibraryJournalError {
    JournalError::Io { action, path: path.into(), source }.into()
}

#[cfg(test)]
mod tests;
