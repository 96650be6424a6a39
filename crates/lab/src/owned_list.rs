//! Lists in files that no other user can read or write: users and senders.

use std::fs::{File, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stdx::files::OwnedFolder;

use crate::error::ServeError;

const MOST_FILE_BYTES: u64 = 1 << 20;

/// A list in a file.
#[derive(Debug, Clone)]
pub struct OwnedList {
    folder: PathBuf,
    file: &'static str,
    /// Name of the file while it is being written.
    next: &'static str,
}

impl OwnedList {
    /// Manages the list in the file `file` in a folder that does not have to exist yet.
    pub fn at(folder: &Path, file: &'static str, next: &'static str) -> Self {
        Self { folder: folder.into(), file, next }
    }

    fn failed(&self, source: std::io::Error) -> ServeError {
        ServeError::Users { path: self.folder.join(self.file), source }
    }

    /// # Errors
    /// Returns an error if the file cannot be read, or if others may have written to it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Vec<T>, ServeError> {
        let file = match OwnedFolder::open(&self.folder).map_err(|error| self.failed(error.into()))? {
            Some(folder) => folder.file(self.file).map_err(|error| self.failed(error.into()))?,
            None => None,
        };
        let Some(file) = file else { return Ok(Vec::new()) };
        let mut text = String::new();
        file.take(MOST_FILE_BYTES).read_to_string(&mut text).map_err(|error| self.failed(error))?;
        serde_json::from_str(&text).map_err(|error| self.failed(error.into()))
    }

    /// Changes the list while no other process can change it. `change` returns its result and whether it has changed
    /// anything.
    ///
    /// # Errors
    /// Returns the error of `change`, or an error if the file cannot be read or written.
    pub fn change<T: Serialize + DeserializeOwned, R>(
        &self,
        change: impl FnOnce(&mut Vec<T>) -> Result<(bool, R), ServeError>,
    ) -> Result<R, ServeError> {
        // Of two concurrent changes, one would be lost: a new token or, worse, the withdrawal of a token.
        let lock = || -> std::io::Result<File> {
            let file = OwnedFolder::make(&self.folder)?.make_file(&format!("{}.lock", self.file))?;
            file.lock()?;
            Ok(file)
        };
        let _lock = lock().map_err(|error| self.failed(error))?;
        let mut list = self.read()?;
        let (has_changed, result) = change(&mut list)?;
        if has_changed {
            self.write(&list)?;
        }
        Ok(result)
    }

    /// Replaces the whole list.
    fn write<T: Serialize>(&self, list: &[T]) -> Result<(), ServeError> {
        let written = || -> std::io::Result<()> {
            let folder = OwnedFolder::make(&self.folder)?;
            folder.remove(self.next)?;
            let mut file = folder.new_file(self.next)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(&serde_json::to_vec_pretty(list)?)?;
            file.sync_all()?;
            folder.rename(self.next, self.file)?;
            Ok(folder.sync()?)
        };
        written().map_err(|error| self.failed(error))
    }
}
