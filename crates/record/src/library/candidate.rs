//! What is in a library.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::archive::{self, JOURNAL, RUN_FILE};

/// Something in a library that may be a run. Sorted by name; an archive follows the folder of the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// Name of the run: that of the folder, or that of the archive without its suffix.
    pub name: OsString,
    /// Whether it is an archive.
    pub is_archive: bool,
}

impl Candidate {
    /// Returns its path in the library at `root`.
    #[must_use]
    pub fn path_in(&self, root: &Path) -> PathBuf {
        match self.is_archive {
            true => root.join(archive::name_of(&self.name)),
            false => root.join(&self.name),
        }
    }

    /// Returns the path of the file with the journal in the library at `root`: that of the archive, if it is one.
    #[must_use]
    pub fn journal_in(&self, root: &Path) -> PathBuf {
        self.file_in(root, JOURNAL)
    }

    /// Returns the path of the file with the run file in the library at `root`: that of the archive, if it is one.
    #[must_use]
    pub fn run_file_in(&self, root: &Path) -> PathBuf {
        self.file_in(root, RUN_FILE)
    }

    fn file_in(&self, root: &Path, file: &str) -> PathBuf {
        if self.is_archive {
            return self.path_in(root);
        }
        // Lists do this for every run, so memory is allocated once.
        let separators = 2;
        let bytes = root.as_os_str().len() + self.name.len() + file.len() + separators;
        let mut path = PathBuf::with_capacity(bytes);
        path.push(root);
        path.push(&self.name);
        path.push(file);
        path
    }
}
