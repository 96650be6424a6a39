//! The state of a run's files, which shows whether its rows are up to date.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use record::Library;

use crate::error::StoreError;
use crate::value::Value;

/// Number of runs below which another thread is not worth starting.
const FEW: usize = 500;

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
        let (journal_bytes, journal_modified_ns) = extent(&journal)?;
        Some(Self { run_file_bytes, run_file_modified_ns, journal_bytes, journal_modified_ns })
    }

    /// Returns the values of these columns.
    #[must_use]
    pub fn values(&self) -> [Value; 4] {
        [self.run_file_bytes, self.run_file_modified_ns, self.journal_bytes, self.journal_modified_ns]
            .map(Value::Integer)
    }

    /// Returns the state with these values; None if they are not numbers.
    #[must_use]
    pub fn of_values(values: &[Value]) -> Option<Self> {
        let number = |at: usize| values.get(at)?.integer();
        Some(Self {
            run_file_bytes: number(0)?,
            run_file_modified_ns: number(1)?,
            journal_bytes: number(2)?,
            journal_modified_ns: number(3)?,
        })
    }
}

/// Returns the length and modification time of a regular file.
fn extent(path: &Path) -> Option<(i64, i64)> {
    let found = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let since = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((i64::try_from(found.len()).ok()?, i64::try_from(since.as_nanos()).ok()?))
}

/// Returns the names of everything in a library that may be a run, each with the state of its files; None for a folder
/// that is not a complete run.
///
/// # Errors
/// Returns an error if the library cannot be read. A missing library counts as empty.
pub fn folders(library: &Library) -> Result<BTreeMap<String, Option<Source>>, StoreError> {
    let failed = |source| StoreError::Library { path: library.root().into(), source };
    // Run ids are ASCII; a folder whose name is not ASCII is read without the index.
    let named = |(name, path): (OsString, PathBuf)| Some((name.into_string().ok()?, path));
    let entries = library.entries().map_err(failed)?;
    let entries: Vec<(String, PathBuf)> = entries.into_iter().filter_map(named).collect();
    // Most of the time is spent in system calls, which several threads can make in parallel.
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = entries.len().div_ceil(threads).max(FEW);
    let states = |part: &[(String, PathBuf)]| -> Vec<_> {
        part.iter().filter_map(|(name, path)| Some((name.clone(), state(library, name, path)?))).collect()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = entries.chunks(share).map(|part| scope.spawn(move || states(part))).collect();
        let joined = |worker: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        Ok(workers.into_iter().flat_map(joined).collect())
    })
}

/// Returns the state of an entry's files, None within if it is not a complete run; None if it cannot be a run.
fn state(library: &Library, name: &str, path: &Path) -> Option<Option<Source>> {
    if name.starts_with('.') {
        return None;
    }
    let source = Source::of(library, path);
    let is_other_file = || std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    (source.is_some() || !is_other_file()).then_some(source)
}
