//! The state of a run's files, which shows whether its rows are up to date.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use record::{Candidate, JOURNAL_FILE, Library, RUN_FILE};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags, open, statx};
use rustix::path::Arg;
use stdx::parallel::mapped_while;
use stdx::units::SECOND_NS;

use crate::error::StoreError;
use crate::value::Value;

/// Number of runs whose files one thread examines at a time; fewer are not worth another thread.
const PART: usize = 256;

/// Lengths and modification times of a run's files. A journal only grows, and its run file is written once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Length of the run file.
    pub run_file_bytes: i64,
    /// Time of the last write to the run file.
    pub run_file_modified_ns: i64,
    /// Length of the journal.
    pub journal_bytes: i64,
    /// Time of the last write to the journal.
    pub journal_modified_ns: i64,
}

impl Source {
    /// Columns for these values in the `source` table.
    pub const COLUMNS: [&str; 4] =
        ["run_file_bytes", "run_file_modified_ns", "journal_bytes", "journal_modified_ns"];

    /// Returns the state of the files in the run at `path`; None if it is not a run.
    #[must_use]
    pub fn of(library: &Library, path: &Path) -> Option<Self> {
        let [run_file, journal] = library.files_of(path);
        let (run_file_bytes, run_file_modified_ns) = extent(&run_file)?;
        // An archive contains both.
        let (journal_bytes, journal_modified_ns) =
            if journal == run_file { (run_file_bytes, run_file_modified_ns) } else { extent(&journal)? };
        Some(Self { run_file_bytes, run_file_modified_ns, journal_bytes, journal_modified_ns })
    }

    /// Returns the values of these columns.
    #[must_use]
    pub fn values(&self) -> [Value; 4] {
        [self.run_file_bytes, self.run_file_modified_ns, self.journal_bytes, self.journal_modified_ns]
            .map(Value::Integer)
    }

    /// Takes the state from these values, in the order of the columns; None if one is not a number.
    #[must_use]
    pub fn of_values(values: &mut impl Iterator<Item = Option<i64>>) -> Option<Self> {
        let mut number = || values.next()?;
        Some(Self {
            run_file_bytes: number()?,
            run_file_modified_ns: number()?,
            journal_bytes: number()?,
            journal_modified_ns: number()?,
        })
    }
}

/// Returns the length and modification time of a regular file.
fn extent(path: &Path) -> Option<(i64, i64)> {
    extent_at(CWD, path)
}

/// Same as [`extent`], but for a path within an open folder, which the system resolves faster.
fn extent_at(folder: impl AsFd, path: impl Arg) -> Option<(i64, i64)> {
    let found = statx(
        folder,
        path,
        AtFlags::SYMLINK_NOFOLLOW,
        StatxFlags::TYPE | StatxFlags::SIZE | StatxFlags::MTIME,
    );
    let found =
        found.ok().filter(|found| FileType::from_raw_mode(found.stx_mode.into()) == FileType::RegularFile)?;
    let seconds = found.stx_mtime.tv_sec.checked_mul(SECOND_NS as i64).filter(|ns| *ns >= 0)?;
    Some((i64::try_from(found.stx_size).ok()?, seconds.checked_add(found.stx_mtime.tv_nsec.into())?))
}

/// Lists a library; a missing library counts as empty.
///
/// # Errors
/// Returns an error if the library cannot be read.
pub fn candidates(library: &Library) -> Result<Vec<Candidate>, StoreError> {
    library.candidates().map_err(|source| StoreError::Library { path: library.root().into(), source })
}

/// The state of something that may be a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It cannot be a run, or only without the store: run ids are ASCII, so other names are read without the store.
    Other,
    /// It is not a complete run.
    Partial,
    /// It is a run.
    Complete(Source),
}

/// Returns the state of each candidate, and the result of `before`, which is called at the same time.
#[must_use]
pub fn states_while<B>(
    library: &Library,
    candidates: &[Candidate],
    before: impl FnOnce() -> B,
) -> (Vec<State>, B) {
    let root = open(library.root(), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
    let states = |part: &&[Candidate]| -> Vec<State> {
        let mut path = Vec::new();
        part.iter().map(|candidate| state(library, root.as_ref(), candidate, &mut path)).collect()
    };
    let parts: Vec<&[Candidate]> = candidates.chunks(PART).collect();
    let (states, before) = mapped_while(&parts, states, before);
    (states.concat(), before)
}

/// Returns the state of a candidate; `path` is memory to reuse.
fn state(library: &Library, root: Option<&OwnedFd>, candidate: &Candidate, path: &mut Vec<u8>) -> State {
    if candidate.name.to_str().is_none_or(|name| name.starts_with('.')) {
        return State::Other;
    }
    let source = match root.filter(|_| !candidate.is_archive) {
        Some(root) => source_in(root, &candidate.name, path),
        None => Source::of(library, &candidate.path_in(library.root())),
    };
    let is_other_file =
        || std::fs::symlink_metadata(candidate.path_in(library.root())).is_ok_and(|found| found.is_file());
    match source {
        Some(source) => State::Complete(source),
        None if is_other_file() => State::Other,
        None => State::Partial,
    }
}

/// Returns the state of the files in a folder of the library.
fn source_in(root: &OwnedFd, folder: &OsStr, path: &mut Vec<u8>) -> Option<Source> {
    let mut extent = |name: &str| {
        path.clear();
        for part in [folder.as_bytes(), b"/", name.as_bytes(), b"\0"] {
            path.extend_from_slice(part);
        }
        extent_at(root, CStr::from_bytes_with_nul(path).ok()?)
    };
    let (run_file_bytes, run_file_modified_ns) = extent(RUN_FILE)?;
    let (journal_bytes, journal_modified_ns) = extent(JOURNAL_FILE)?;
    Some(Source { run_file_bytes, run_file_modified_ns, journal_bytes, journal_modified_ns })
}
