//! What is in a library.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::archive;

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
}
