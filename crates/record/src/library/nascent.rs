//! A run's directory before it gets its final name, and after it loses that name.
//!
//! A run is created in a directory with a temporary name. The directory is renamed after its content and
//! entries have been synced. The directory remains locked until then: a locked directory is being created, and
//! an unlocked directory was left by a process that died. Removing a run reverses these steps.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{LibraryError, io};
use crate::storage::{FoundKind, Owner, Storage, Stored, sync_folder};

const PREFIX: &str = ".new-";
/// Number of attempts to create and lock a directory, because another process may mistake it for a leftover and
/// remove it before it is locked.
const ATTEMPTS: u32 = 8;

/// Returns whether `dir` has a temporary name.
pub(super) fn is_nascent(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()))
}

/// Returns the temporary path of a run's directory.
pub(super) fn path_of(root: &Path, id: &str) -> PathBuf {
    root.join(format!("{PREFIX}{id}"))
}

/// A directory that is being created.
#[derive(Debug)]
pub(super) struct Nascent {
    storage: Arc<dyn Storage>,
    root: PathBuf,
    dir: PathBuf,
    /// Final path of the directory; `None` before the directory is published.
    published: Option<PathBuf>,
    /// The open directory, locked until it is published or discarded.
    held: Box<dyn Stored>,
}

impl Nascent {
    /// Creates an empty directory in `root` for the run `id`.
    pub fn create(storage: &Arc<dyn Storage>, root: &Path, id: &str) -> Result<Self, LibraryError> {
        let dir = path_of(root, id);
        let storage = Arc::clone(storage);
        for _ in 0..ATTEMPTS {
            storage.create_folder(&dir).map_err(|e| io("create", &dir, e))?;
            if let Some(held) = hold(&*storage, &dir).map_err(|e| io("lock", &dir, e))? {
                return Ok(Self { storage, root: root.into(), dir, published: None, held });
            }
        }
        Err(io("create", &dir, ErrorKind::Interrupted.into()))
    }

    /// Creates a file in the directory. Returns the file and its path.
    pub fn create_file(
        &mut self,
        name: impl AsRef<OsStr>,
    ) -> Result<(Box<dyn Stored>, PathBuf), LibraryError> {
        let path = self.dir.join(name.as_ref());
        let file = self.held.create_file(name.as_ref()).map_err(|e| io("create", &path, e))?;
        Ok((file, path))
    }

    /// Renames the directory to its final name and returns once the rename is on disk.
    pub fn publish(&mut self, dir: &Path) -> Result<(), LibraryError> {
        self.held.sync_all().map_err(|e| io("sync", &self.dir, e))?;
        self.storage.rename(&self.dir, dir).map_err(|e| io("create", dir, e))?;
        self.published = Some(dir.into());
        if !is_at(&*self.storage, &*self.held, dir) {
            // Another process that can write to the library has replaced the directory.
            return Err(io("create", dir, ErrorKind::Interrupted.into()));
        }
        sync_folder(&*self.storage, &self.root).map_err(|e| io("sync", &self.root, e))
    }

    /// Restricts the directory's permissions to those that `mode` grants for a file.
    pub fn restrict(&mut self, mode: u32) -> Result<(), LibraryError> {
        let of_class = |read: u32, class: u32| if mode & read == 0 { class } else { 0 };
        let withheld = of_class(0o040, 0o070) | of_class(0o004, 0o007);
        let restricted = self.held.mode().and_then(|own| self.held.set_mode(own & !withheld));
        restricted.map_err(|e| io("create", &self.dir, e))
    }

    /// Gives the directory this owner and group, if this process may do so.
    pub fn hand_over(&mut self, owner: Owner) -> Result<(), LibraryError> {
        let handed = self.held.mode().and_then(|mode| hand_over(&mut *self.held, owner, mode));
        handed.map_err(|e| io("create", &self.dir, e))
    }

    /// Returns the device and inode number of the directory.
    pub fn identity(&self) -> Result<(u64, u64), LibraryError> {
        self.held.found().map(|found| found.identity).map_err(|e| io("open", &self.dir, e))
    }

    /// Removes the directory, even if it was already published.
    pub fn discard(mut self) {
        if let Some(dir) = &self.published {
            // The directory is renamed first, so that a partial run is never visible.
            let _ = self.storage.rename(dir, &self.dir);
        }
        let _ = remove(&*self.storage, &self.root, &self.dir, &mut *self.held);
    }
}

/// Gives a file or folder these permissions and, as far as this process may, this owner and group. If the group
/// cannot be set, the actual group gets no permissions.
pub(super) fn hand_over(stored: &mut dyn Stored, owner: Owner, mode: u32) -> std::io::Result<()> {
    let own = stored.owner()?;
    if own != owner && stored.set_owner(owner).is_err() && own.group != owner.group {
        // Only root may change the owner, but every owner may choose among their own groups.
        let _ = stored.set_owner(Owner { user: own.user, ..owner });
    }
    stored.set_mode(permitted(mode, stored.owner()?.group == owner.group))
}

/// Returns `mode`, without group permissions unless the group was kept.
const fn permitted(mode: u32, is_group_kept: bool) -> u32 {
    if is_group_kept { mode } else { mode & !0o070 }
}

/// Opens and locks the directory; returns `None` if another process mistook it for a leftover and removed it.
fn hold(storage: &dyn Storage, dir: &Path) -> std::io::Result<Option<Box<dyn Stored>>> {
    let held = match storage.open_folder(dir) {
        Ok(held) => held,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // On a file system without directory locks, no process removes leftovers, so it is safe to continue
    // without a lock.
    let locked = held.try_lock().unwrap_or(true);
    let found = held.found()?;
    Ok((locked && storage.look(dir).is_ok_and(|there| there == found)).then_some(held))
}

/// Removes a temporary directory that is not locked by any process.
pub(super) fn remove_left_over(storage: &dyn Storage, root: &Path, dir: &Path) {
    let Ok(mut held) = storage.open_folder(dir) else { return remove_left_over_file(storage, dir) };
    // Lock first, then check the path: the creator may still rename and unlock the directory before the lock
    // is acquired.
    if matches!(held.try_lock(), Ok(true)) && is_at(storage, &*held, dir) {
        let _ = remove(storage, root, dir, &mut *held);
    }
}

/// Removes a temporary file that is not locked by any process.
fn remove_left_over_file(storage: &dyn Storage, path: &Path) {
    let Ok(held) = storage.open(path) else { return };
    let is_there = || {
        let found = held.found();
        found.is_ok_and(|found| storage.look(path).is_ok_and(|there| there == found))
    };
    if matches!(held.try_lock(), Ok(true)) && is_there() {
        let _ = storage.remove_file(path);
    }
}

/// Creates and locks an empty file with a temporary name; returns it and its path.
pub(super) fn create_file(
    storage: &dyn Storage,
    root: &Path,
    name: &OsStr,
) -> Result<(Box<dyn Stored>, PathBuf), LibraryError> {
    let mut path = root.join(PREFIX);
    path.as_mut_os_string().push(name);
    for _ in 0..ATTEMPTS {
        remove_left_over_file(storage, &path);
        let file = storage.create(&path).map_err(|e| io("create", &path, e))?;
        // As in `hold`.
        let locked = file.try_lock().unwrap_or(true);
        let found = file.found().map_err(|e| io("create", &path, e))?;
        if locked && storage.look(&path).is_ok_and(|there| there == found) {
            return Ok((file, path));
        }
    }
    Err(io("create", &path, ErrorKind::Interrupted.into()))
}

/// Removes a file, and returns once the removal is on disk.
pub(super) fn remove_file(storage: &dyn Storage, path: &Path) -> Result<(), LibraryError> {
    storage.remove_file(path).map_err(|e| io("remove", path, e))?;
    let root = root_of(path);
    sync_folder(storage, root).map_err(|e| io("sync", root, e))
}

/// Returns the folder that contains a run.
pub(super) fn root_of(run: &Path) -> &Path {
    run.parent().filter(|root| !root.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns whether `held` is the directory at `dir` itself, not the target of a symbolic link there.
fn is_at(storage: &dyn Storage, held: &dyn Stored, dir: &Path) -> bool {
    let found = held.found();
    found.is_ok_and(|found| {
        found.kind == FoundKind::Folder && storage.look(dir).is_ok_and(|there| there == found)
    })
}

/// Removes a run: renames its directory to a temporary name, then removes its files, unless `is_removable` then
/// rejects them.
pub(super) fn remove_run(
    storage: &dyn Storage,
    dir: &Path,
    is_removable: impl FnOnce(&dyn Stored) -> std::io::Result<bool>,
) -> Result<(), LibraryError> {
    let root = root_of(dir);
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut held = storage.open_folder(dir).map_err(|e| io("open", dir, e))?;
    let foreign = |path: PathBuf| LibraryError::Foreign { id: name.clone(), path };
    if !is_at(storage, &*held, dir) {
        return Err(foreign(dir.into()));
    }
    let names = held.names().map_err(|e| io("list", dir, e))?;
    if let Some(other) = names.iter().find(|name| !is_file(&*held, name)) {
        return Err(foreign(dir.join(other)));
    }
    // Lock the directory so that no other process treats it as a leftover.
    let _ = held.try_lock();
    let gone = take_name_away(storage, dir, &root.join(format!("{PREFIX}removed-{name}")))
        .map_err(|e| io("remove", dir, e))?;
    // No process finds the directory under its new name, so no more files are added.
    match is_removable(&*held) {
        Ok(true) => remove(storage, root, &gone, &mut *held).map_err(|e| io("remove", &gone, e)),
        refused => {
            storage.rename(&gone, dir).map_err(|e| io("restore", dir, e))?;
            let changed =
                || std::io::Error::other("its files changed while it was being removed; repeat the command");
            Err(io("remove", dir, refused.err().unwrap_or_else(changed)))
        }
    }
}

/// Renames `dir` to `gone`, or to a variant of that name if `gone` is a leftover that could not be removed.
/// Returns the new path.
fn take_name_away(storage: &dyn Storage, dir: &Path, gone: &Path) -> std::io::Result<PathBuf> {
    let mut gone = gone.to_owned();
    for _ in 1..ATTEMPTS {
        match storage.rename(dir, &gone) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory
                ) =>
            {
                gone.as_mut_os_string().push("~");
            }
            renamed => return renamed.map(|()| gone),
        }
    }
    storage.rename(dir, &gone).map(|()| gone)
}

/// Removes the files in the open directory `held`, wherever it is now, and then the directory `dir`. Keeps a
/// directory that contains anything other than regular files. If this fails, the next process removes the
/// rest.
fn remove(storage: &dyn Storage, root: &Path, dir: &Path, held: &mut dyn Stored) -> std::io::Result<()> {
    // Make the preceding rename, if any, durable: otherwise, a power cut could restore the old name after the
    // files are gone.
    sync_folder(storage, root)?;
    let names = held.names()?;
    if names.iter().all(|name| is_file(held, name)) {
        names.iter().try_for_each(|name| held.remove_file(name))?;
        storage.remove_folder(dir)?;
    }
    Ok(())
}

fn is_file(held: &dyn Stored, name: &OsStr) -> bool {
    held.look(name).is_ok_and(|found| found.kind == FoundKind::File)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_group_gets_no_permissions() {
        assert_eq!(permitted(0o664, true), 0o664);
        assert_eq!(permitted(0o664, false), 0o604);
        assert_eq!(permitted(0o2770, false), 0o2700);
    }
}
