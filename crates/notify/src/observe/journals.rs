//! The journals in a library's run directories and archives: their locations, lengths and times of last write. An
//! archive is opened once, because its header has to be decompressed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use record::{Library, Run, is_run_id};
use stdx::text::with_causes;

use crate::notice::short;

/// Maximum number of runs in a library.
const MOST_RUNS: usize = 1_000_000;

/// A run's journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// The run's directory or archive.
    pub place: PathBuf,
    pub bytes: u64,
    pub modified: Timestamp,
}

/// Distinguishes two states of a file: device, inode number, length, and time of the last write.
type Stamp = (u64, u64, u64, i64, i64);

/// A library's journals.
#[derive(Debug)]
pub struct Journals {
    library: Library,
    /// The lengths of journals in archives, by the archive's path.
    archived: BTreeMap<PathBuf, (Stamp, u64)>,
}

impl Journals {
    pub fn of(root: &Path) -> Self {
        Self { library: Library::at(root), archived: BTreeMap::new() }
    }

    /// Returns the names of everything that may be a run. Names of runs being created or removed begin with a dot.
    pub fn names(&self) -> std::io::Result<BTreeSet<String>> {
        let entries = match std::fs::read_dir(self.library.root()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            Err(error) => return Err(error),
        };
        let mut names = BTreeSet::new();
        for entry in entries.take(MOST_RUNS) {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            let of_archive = name.strip_suffix(".tar.zst");
            let possible = [Some(name), of_archive].into_iter().flatten();
            names.extend(possible.filter(|name| is_run_id(name)).map(str::to_owned));
        }
        Ok(names)
    }

    /// Forgets archives that no longer exist.
    pub fn forget_removed(&mut self) {
        self.archived.retain(|path, _| path.symlink_metadata().is_ok());
    }

    /// Returns a run's journal; `None` if there is none.
    ///
    /// # Errors
    /// Returns the problem if it is in an archive that cannot be read.
    pub fn journal(&mut self, name: &str) -> Result<Option<Journal>, String> {
        let place = self.library.path_of(name);
        let regular = |path: &Path| std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
        let (file, is_archive) = match regular(&place.join("journal")) {
            Some(found) => (found, false),
            None if self.library.has_archive(name) => match regular(&place) {
                Some(found) => (found, true),
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        let modified = file.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        let modified = modified.unwrap_or(Timestamp::UNIX_EPOCH);
        let bytes = if is_archive { self.archived_bytes(&place, &file)? } else { file.len() };
        Ok(Some(Journal { place, bytes, modified }))
    }

    fn archived_bytes(&mut self, path: &Path, file: &std::fs::Metadata) -> Result<u64, String> {
        let stamp: Stamp = (file.dev(), file.ino(), file.len(), file.mtime(), file.mtime_nsec());
        if let Some((_, bytes)) = self.archived.get(path).filter(|(known, _)| *known == stamp) {
            return Ok(*bytes);
        }
        let run = Run::open(path).map_err(|error| short(&with_causes(&error)))?;
        let bytes = run.journal_bytes();
        let bytes = bytes.map_err(|error| short(&format!("{}: {error}", path.display())))?;
        self.archived.insert(path.into(), (stamp, bytes));
        Ok(bytes)
    }
}
