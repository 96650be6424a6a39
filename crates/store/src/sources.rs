//! The state of a run's files, which shows whether its rows are up to date.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use record::Library;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags, open, statx};
use stdx::units::SECOND_NS;

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
        Self::from_files(library.files_of(path), extent)
    }

    fn from_files(
        [run_file, journal]: [PathBuf; 2],
        extent: impl Fn(&Path) -> Option<(i64, i64)>,
    ) -> Option<Self> {
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

    /// Takes the state from these values, in the order of the columns; None if they are not numbers.
    #[must_use]
    pub fn of_values(values: &mut impl Iterator<Item = Value>) -> Option<Self> {
        let mut number = || values.next()?.integer();
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
fn extent_at(folder: impl AsFd, path: &Path) -> Option<(i64, i64)> {
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

/// The path of everything in a library that may be a run, by its name.
pub type Entries = BTreeMap<OsString, PathBuf>;

/// Lists a library; a missing library counts as empty.
///
/// # Errors
/// Returns an error if the library cannot be read.
pub fn entries(library: &Library) -> Result<Entries, StoreError> {
    library.entries().map_err(|source| StoreError::Library { path: library.root().into(), source })
}

/// Returns the names of these entries that may be runs, each with the state of its files; None for a folder that is not
/// a complete run.
#[must_use]
pub fn folders(library: &Library, entries: &Entries) -> BTreeMap<String, Option<Source>> {
    // Run ids are ASCII; a folder whose name is not ASCII is read without the index.
    let named = entries.iter().filter_map(|(name, path)| Some((name.to_str()?, &**path)));
    let entries: Vec<(&str, &Path)> = named.collect();
    let root = open(library.root(), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
    let root = root.as_ref();
    // Most of the time is spent in system calls, which several threads can make in parallel.
    let threads = stdx::parallel::processors();
    let share = entries.len().div_ceil(threads).max(FEW);
    let states = move |part: &[(&str, &Path)]| -> Vec<_> {
        let named =
            |(name, path): &(&str, &Path)| Some(((*name).to_owned(), state(library, root, name, path)?));
        part.iter().filter_map(named).collect()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = entries.chunks(share).map(|part| scope.spawn(move || states(part))).collect();
        let joined = |worker: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(joined).collect()
    })
}

/// Returns the state of an entry's files, None within if it is not a complete run; None if it cannot be a run.
fn state(library: &Library, root: Option<&OwnedFd>, name: &str, path: &Path) -> Option<Option<Source>> {
    if name.starts_with('.') {
        return None;
    }
    let source = match root.filter(|_| !Library::may_be_archive(path)) {
        Some(root) => Source::from_files(library.files_of(Path::new(name)), |file| extent_at(root, file)),
        None => Source::of(library, path),
    };
    let is_other_file = || std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    (source.is_some() || !is_other_file()).then_some(source)
}
