//! A writer's copy of its journal, to detect changes by other processes and to save the records.
//!
//! The lock on a journal is advisory: commands such as `: > journal` ignore it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use crate::storage::{self, Storage, Stored};

/// Size limit for reading a journal back: far more than any run writes.
pub const MOST_BYTES: u64 = 1 << 30;

/// Limit on the copy in memory: several times the journal of a week-long run. Only the beginning of a longer
/// journal is kept.
const MOST_HELD_BYTES: usize = 256 << 20;
/// Name of the copy of a lost journal; later copies have a number at the end.
pub const RESCUED: &str = "journal.rescued";
/// Number of names to try in each folder, such as `journal.rescued` and `journal.rescued-2`.
const MOST_NAMES: u32 = 99;

/// The bytes that were written to a journal.
#[derive(Debug)]
pub(super) struct Held {
    /// Complete records from the beginning, up to the limit.
    bytes: Vec<u8>,
    limit_bytes: usize,
    /// Total length written.
    length: u64,
    /// SHA-256 of all written bytes.
    hash: Sha256,
    /// Number of records, without the header.
    records: usize,
    /// Modification time of the file when it was last found to have this content.
    modified: Option<SystemTime>,
}

/// A change to a journal by another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The journal is no longer at its path.
    Gone,
    /// The length of the journal differs.
    Length { found: u64, written: u64 },
    /// The content of the journal differs.
    Bytes,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gone => f.write_str("it was moved, removed or replaced while the run was writing to it"),
            Self::Length { found, written } => write!(
                f,
                "another program changed it while the run was writing to it: it has {found} B, but {written} \
                 B were written"
            ),
            Self::Bytes => f.write_str(
                "another program changed it while the run was writing to it: its content differs from the \
                 written data",
            ),
        }
    }
}

impl Held {
    /// Returns the state of a journal that consists of these bytes, which are a header and complete records.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self::within(MOST_HELD_BYTES, bytes)
    }

    fn within(limit_bytes: usize, mut bytes: Vec<u8>) -> Self {
        let (length, hash, records) =
            (bytes.len() as u64, Sha256::new_with_prefix(&bytes), records_in(&bytes));
        if bytes.len() > limit_bytes {
            let whole = bytes[..limit_bytes].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            bytes.truncate(whole);
        }
        Self { bytes, limit_bytes, length, hash, records, modified: None }
    }

    /// Returns the number of bytes written.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Adds a record that has been written to the file.
    pub fn add(&mut self, line: &[u8]) {
        // Once a record has been omitted, omit all later records too: the copy must be a valid prefix of the
        // journal.
        if self.has_all() && self.bytes.len() + line.len() <= self.limit_bytes {
            self.bytes.extend_from_slice(line);
        }
        self.length += line.len() as u64;
        self.hash.update(line);
        self.records += 1;
    }

    fn has_all(&self) -> bool {
        self.bytes.len() as u64 == self.length
    }

    /// Returns whether and how another process changed `file`. Checks the length of the file and, if its
    /// modification time has changed since the last check, its content.
    pub fn change_of(&mut self, file: &mut dyn Stored) -> Option<Change> {
        // An error here means that the disk failed, not that the journal was changed; the next sync reports it.
        let extent = file.extent().ok()?;
        if extent.bytes != self.length {
            return Some(Change::Length { found: extent.bytes, written: self.length });
        }
        if self.modified == extent.modified {
            return None;
        }
        let change = self.change_of_content(file);
        if change.is_none() {
            self.modified = extent.modified;
        }
        change
    }

    /// Compares the whole content of `file`, and returns whether and how another process changed it.
    pub fn change_of_content(&self, file: &mut dyn Stored) -> Option<Change> {
        let found = file.read(MOST_BYTES).ok()?;
        if found.len() as u64 != self.length {
            return Some(Change::Length { found: found.len() as u64, written: self.length });
        }
        (!self.is_all(&found)).then_some(Change::Bytes)
    }

    fn is_all(&self, bytes: &[u8]) -> bool {
        if self.has_all() {
            bytes == self.bytes
        } else {
            Sha256::digest(bytes) == self.hash.clone().finalize()
        }
    }

    /// Records the state of `file` right after one of our own writes, and returns whether and how another
    /// process changed it.
    pub fn settle(&mut self, file: &dyn Stored) -> Option<Change> {
        let extent = file.extent().ok()?;
        self.modified = extent.modified;
        let change = Change::Length { found: extent.bytes, written: self.length };
        (extent.bytes != self.length).then_some(change)
    }

    /// Copies the records to a new file and returns a message that names it. Records that are not in memory are
    /// read from `file`.
    pub fn rescue(
        &self,
        storage: &dyn Storage,
        file: &mut dyn Stored,
        path: &Path,
        others: &[PathBuf],
    ) -> String {
        // If the file is unreadable, the copy contains only the records in memory.
        let found = if self.has_all() { None } else { file.read(MOST_BYTES).ok() };
        let (bytes, is_all) = match &found {
            Some(found) if self.is_all(found) => (&found[..], true),
            _ => (&self.bytes[..], self.has_all()),
        };
        let resume = format!("to resume the run, move that file to {}", path.display());
        match copy(storage, &refuges(path, others), bytes).map(|copy| copy.display().to_string()) {
            Ok(copy) if is_all => format!("all its records are in {copy}; {resume}"),
            Ok(copy) => {
                format!(
                    "the first {} of its {} records are in {copy}; the others were not kept in memory and are lost; \
                     {resume}",
                    records_in(bytes),
                    self.records,
                )
            }
            Err(why) => format!("its records cannot be copied to a new file: {why}"),
        }
    }
}

fn records_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count().saturating_sub(1)
}

/// A folder where a lost journal may be saved, and the name of the copy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refuge {
    folder: PathBuf,
    name: String,
}

/// Returns the locations for a copy of the journal at `path`, in order of preference: next to the journal, next to its
/// run directory, and in the folders `others`. Outside the run directory, the name of the copy identifies the run.
fn refuges(path: &Path, others: &[PathBuf]) -> Vec<Refuge> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let run = dir.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned());
    let above = dir.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let next_to_journal = Refuge { folder: dir.into(), name: RESCUED.into() };
    let elsewhere = std::iter::once(above).chain(others.iter().map(PathBuf::as_path));
    let named = elsewhere.map(|folder| Refuge { folder: folder.into(), name: format!("{run}.{RESCUED}") });
    std::iter::once(next_to_journal).chain(named).collect()
}

/// Writes a new file in the first folder that allows it; if all fail, returns all errors.
fn copy(storage: &dyn Storage, refuges: &[Refuge], bytes: &[u8]) -> Result<PathBuf, String> {
    let mut problems = Vec::new();
    for refuge in refuges {
        match copy_to(storage, refuge, bytes) {
            Ok(path) => return Ok(path),
            Err(error) => problems.push(format!("{}: {error}", refuge.folder.display())),
        }
    }
    Err(problems.join("; "))
}

fn copy_to(storage: &dyn Storage, refuge: &Refuge, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 1..=MOST_NAMES {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = refuge.folder.join(format!("{}{suffix}", refuge.name));
        let mut file = match storage.create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            created => created?,
        };
        let written = file.append(bytes).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // Report the failed write, not a failed clean-up.
            let _ = storage.remove_file(&path);
            return Err(error);
        }
        // Ignore the error: the copy exists even if the file system cannot sync folders.
        let _ = storage::sync_folder(storage, &refuge.folder);
        return Ok(path);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests;
