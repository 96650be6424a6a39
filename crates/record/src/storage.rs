//! The storage operations and the wall clock that a library needs.
//!
//! [`Real`] is the file system. [`simulated::Simulated`] is a disk in memory that loses, tears and reorders
//! unsynced writes; every guarantee of a library is tested on it with a crash at each operation.

mod interface;
mod real;
pub mod simulated;

use std::io;
use std::path::Path;
use std::sync::Arc;

pub use interface::{Extent, Found, FoundKind, Owner, Storage, Stored};
pub use real::Real;

/// Returns the file system of this host.
#[must_use]
pub fn real() -> Arc<dyn Storage> {
    Arc::new(Real)
}

/// Creates `folder` and all missing parents, and returns once all of them are on disk.
///
/// # Errors
/// Returns an error if the operation fails.
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
        // Another run may have created the folder just before.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

fn above(path: &Path) -> Option<&Path> {
    path.parent().filter(|above| !above.as_os_str().is_empty())
}

/// Returns once all directory entries along `path` are on disk, including any created by a process that was
/// killed before it synced them.
///
/// # Errors
/// Returns an error if the disk fails.
pub fn sync_above(storage: &dyn Storage, path: &Path) -> io::Result<()> {
    let mut path = path;
    while let Some(folder) = above(path) {
        match sync_folder(storage, folder) {
            // Folders that cannot be opened or synced were not created by Plateau.
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

/// Returns once the entries of `folder` are on disk.
///
/// # Errors
/// Returns an error if the disk fails.
pub fn sync_folder(storage: &dyn Storage, folder: &Path) -> io::Result<()> {
    storage.open_folder(folder)?.sync_all()
}
