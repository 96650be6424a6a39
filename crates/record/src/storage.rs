//! What a library needs of the disk below it: a handful of operations, and the wall clock beside it.
//!
//! [`Real`] is the file system. [`simulated::Simulated`] is a disk in memory that loses, tears and reorders whatever
//! was not synced; everything that a library promises is tried on it, with a crash at every operation.

mod real;
pub mod simulated;

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub use real::Real;

/// A disk that holds libraries.
pub trait Storage: Debug + Send + Sync {
    /// Creates a file for appending; an existing one is an error.
    ///
    /// # Errors
    /// When it exists or the system refuses.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Stored>>;

    /// Opens a regular file to read it.
    ///
    /// # Errors
    /// When it does not exist, is something else (symbolic links are not followed) or the system refuses.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Stored>>;

    /// Opens a regular file to read it and append to it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn Stored>>;

    /// Opens a folder, to sync its entries or to lock it.
    ///
    /// # Errors
    /// When it does not exist or the system refuses.
    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn Stored>>;

    /// Creates a folder in an existing one.
    ///
    /// # Errors
    /// When it exists or the system refuses.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Gives a file or folder another name in the same folder, in one step.
    ///
    /// # Errors
    /// When there is a folder with content of that name, or the system refuses.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// When it does not exist or the system refuses.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    /// When it does not exist, is not empty, or the system refuses.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Names of everything in a folder, in no particular order.
    ///
    /// # Errors
    /// When it does not exist or the system refuses.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// What is at `path`; symbolic links are not followed.
    ///
    /// # Errors
    /// When nothing is there or the system refuses.
    fn look(&self, path: &Path) -> io::Result<Found>;

    /// Wall-clock time, shown to people and used for the length of an interruption.
    fn now(&self) -> jiff::Timestamp;
}

/// An open file or folder; a lock goes with it.
pub trait Stored: Debug + Send {
    /// The whole content from the beginning.
    ///
    /// # Errors
    /// When the system refuses, or it has more than `limit_bytes`.
    fn read(&mut self, limit_bytes: u64) -> io::Result<Vec<u8>>;

    /// Appends all of `bytes`; after an error a part of them may be there.
    ///
    /// # Errors
    /// When the system refuses, such as on a full disk.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Writes what is at this offset already once more, so that the next sync writes it to the disk.
    ///
    /// # Errors
    /// When the system refuses.
    fn rewrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes the file this long.
    ///
    /// # Errors
    /// When the system refuses.
    fn set_len(&mut self, bytes: u64) -> io::Result<()>;

    /// Returns once the content is on the disk.
    ///
    /// # Errors
    /// When the disk fails; what was written since the last success may be lost then, even if a later call succeeds.
    fn sync_data(&mut self) -> io::Result<()>;

    /// The same for content and metadata; of a folder, its entries.
    ///
    /// # Errors
    /// As [`sync_data`](Self::sync_data).
    fn sync_all(&mut self) -> io::Result<()>;

    /// Locks it against other processes; false when another one has it.
    ///
    /// # Errors
    /// When the system refuses.
    fn try_lock(&self) -> io::Result<bool>;

    /// Whether another process has locked it; takes no lock.
    ///
    /// # Errors
    /// When the system refuses.
    fn is_locked(&self) -> io::Result<bool>;

    /// What this is.
    ///
    /// # Errors
    /// When the system refuses.
    fn found(&self) -> io::Result<Found>;

    /// Of a folder: the names in it, in no particular order, whatever is at its path by now.
    ///
    /// # Errors
    /// When it is not a folder, or the system refuses.
    fn names(&self) -> io::Result<Vec<OsString>>;

    /// Of a folder: what `name` in it is; symbolic links are not followed.
    ///
    /// # Errors
    /// When there is nothing of that name, or the system refuses.
    fn look(&self, name: &OsStr) -> io::Result<Found>;

    /// Of a folder: creates the file `name` in it for appending, whatever is at the folder's path by now.
    ///
    /// # Errors
    /// When it exists, or the system refuses.
    fn create_file(&mut self, name: &OsStr) -> io::Result<Box<dyn Stored>>;

    /// Of a folder: opens the regular file `name` in it to read it, whatever is at the folder's path by now.
    ///
    /// # Errors
    /// When there is none, it is something else (symbolic links are not followed) or the system refuses.
    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Stored>>;

    /// Of a folder: removes the file `name` in it.
    ///
    /// # Errors
    /// When there is none, or the system refuses.
    fn remove_file(&mut self, name: &OsStr) -> io::Result<()>;
}

/// What is at a path, or open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its kind.
    pub kind: FoundKind,
    /// Volume and number in it: the same thing under any name.
    pub identity: (u64, u64),
}

/// Kinds of thing in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, FIFO, socket or symbolic link.
    Other,
}

/// The file system of this host.
#[must_use]
pub fn real() -> Arc<dyn Storage> {
    Arc::new(Real)
}

/// Creates `folder` and those above it that are missing, each of them on the disk when this returns.
///
/// # Errors
/// When the system refuses.
pub fn create_folders(storage: &dyn Storage, folder: &Path) -> io::Result<()> {
    create_missing(storage, folder)?;
    sync_above(storage, folder)
}

fn create_missing(storage: &dyn Storage, folder: &Path) -> io::Result<()> {
    match storage.open_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found.map(|_| ()),
    }
    create_missing(storage, above(folder).unwrap_or(Path::new(".")))?;
    match storage.create_folder(folder) {
        // Another run may begin at the same time.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

fn above(path: &Path) -> Option<&Path> {
    path.parent().filter(|above| !above.as_os_str().is_empty())
}

/// Returns once the entries on the way to `path` are on the disk, whoever made them: that may have been a process that
/// was killed before it synced them.
///
/// # Errors
/// When the disk fails.
pub fn sync_above(storage: &dyn Storage, path: &Path) -> io::Result<()> {
    let mut path = path;
    while let Some(folder) = above(path) {
        match sync_folder(storage, folder) {
            // Not ours, or of a kind that is never synced: then it was not made here either.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied
                        | io::ErrorKind::InvalidInput
                        | io::ErrorKind::Unsupported
                        | io::ErrorKind::ReadOnlyFilesystem
                ) => {}
            synced => synced?,
        }
        path = folder;
    }
    Ok(())
}

/// Returns once the entries of `folder` are on the disk.
///
/// # Errors
/// When the disk fails.
pub fn sync_folder(storage: &dyn Storage, folder: &Path) -> io::Result<()> {
    storage.open_folder(folder)?.sync_all()
}
