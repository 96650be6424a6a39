//! The state of a run's files, which shows whether its rows are up to date.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use record::Library;

use crate::error::StoreError;
use crate::value::Value;

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
    let mut found = BTreeMap::new();
    for (name, path) in library.entries().map_err(failed)? {
        // Run ids are ASCII; a folder whose name is not ASCII is read without the index.
        let Ok(name) = name.into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        let source = Source::of(library, &path);
        let is_other_file = || std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if source.is_some() || !is_other_file() {
            found.insert(name, source);
        }
    }
    Ok(found)
}
