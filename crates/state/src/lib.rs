//! The location of restore records: a directory that no other user can write to, or a simulated one; and the host whose
//! settings they restore.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::Path;

use device::{DriveError, KnownSettings, Tuning};
use record::storage::Stored;
use stdx::files::{OwnedFolder, Unowned, try_lock_each};

/// The location of restore records, which need not exist yet.
pub trait State {
    /// Opens the directory; returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if another user could have written to it, or if a system call fails.
    fn open(&self) -> Result<Option<Box<dyn StateFolder>>, Unowned>;

    /// Opens the directory, creating it if it does not exist.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn make(&self) -> Result<Box<dyn StateFolder>, Unowned>;
}

/// The open directory.
pub trait StateFolder: Debug + Send {
    /// Returns its path.
    fn path(&self) -> &Path;

    /// Returns the names in the directory.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read.
    fn names(&self) -> Result<Vec<OsString>, Unowned>;

    /// Opens a file; returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error unless it is a regular file that belongs to the effective user and is not writable by
    /// others.
    fn file(&self, name: &str) -> Result<Option<Box<dyn Stored>>, Unowned>;

    /// Opens a file, creating it if it does not exist.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    fn make_file(&self, name: &str) -> Result<Box<dyn Stored>, Unowned>;

    /// Opens and locks a file, waiting until no other process holds the lock.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    fn lock(&self, name: &str) -> Result<Box<dyn Stored>, Unowned>;

    /// Returns whether other processes hold locks on these files.
    fn standings(&self, names: &[&str]) -> Vec<Standing>;

    /// Renames a file, replacing any existing file.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    fn rename(&self, from: &str, to: &str) -> Result<(), Unowned>;

    /// Removes a file; succeeds if it does not exist.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    fn remove(&self, name: &str) -> Result<(), Unowned>;

    /// Waits until all creations and removals of files are on disk.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    fn sync(&self) -> Result<(), Unowned>;
}

/// The state of a file's lock.
#[derive(Debug)]
pub enum Standing {
    /// The file was not locked. This process now holds the lock and keeps it until the file is closed.
    Free(Box<dyn Stored>),
    /// The file is locked by another process.
    Held,
    /// The file does not exist.
    Missing,
    /// The state could not be determined.
    Unknown,
}

/// A host with settings.
pub trait Host: Send + Sync {
    /// Validates a recorded setting; returns it if it is one that Plateau changes.
    ///
    /// # Errors
    /// Returns the reason if Plateau does not change this setting, or if it no longer exists.
    fn accept(&self, noted: Tuning) -> Result<Tuning, DriveError>;

    /// Sets the value and verifies it.
    ///
    /// # Errors
    /// Returns an error if the kernel does not accept the value.
    fn set(&self, tuning: &Tuning, value: &str) -> Result<(), DriveError>;

    /// Returns whether the setting has this value.
    fn is(&self, tuning: &Tuning, value: &str) -> bool;

    /// Returns an id of the current boot; settings do not survive a reboot.
    fn boot(&self) -> Option<String>;
}

impl State for Path {
    fn open(&self) -> Result<Option<Box<dyn StateFolder>>, Unowned> {
        Ok(OwnedFolder::open(self)?.map(|folder| Box::new(folder) as Box<dyn StateFolder>))
    }

    fn make(&self) -> Result<Box<dyn StateFolder>, Unowned> {
        Ok(Box::new(OwnedFolder::make(self)?))
    }
}

impl StateFolder for OwnedFolder {
    fn path(&self) -> &Path {
        Self::path(self)
    }

    fn names(&self) -> Result<Vec<OsString>, Unowned> {
        Self::names(self)
    }

    fn file(&self, name: &str) -> Result<Option<Box<dyn Stored>>, Unowned> {
        Ok(Self::file(self, name)?.map(|file| Box::new(file) as Box<dyn Stored>))
    }

    fn make_file(&self, name: &str) -> Result<Box<dyn Stored>, Unowned> {
        Ok(Box::new(Self::make_file(self, name)?))
    }

    fn lock(&self, name: &str) -> Result<Box<dyn Stored>, Unowned> {
        let file = Self::make_file(self, name)?;
        file.lock().map_err(|source| Unowned::System { path: self.path().join(name), source })?;
        Ok(Box::new(file))
    }

    fn standings(&self, names: &[&str]) -> Vec<Standing> {
        let files: Vec<Result<Option<File>, Unowned>> =
            names.iter().map(|name| Self::file(self, name)).collect();
        // All locks are checked at once, because confirming that a lock is held takes time.
        let known: Vec<&File> = files.iter().flatten().flatten().collect();
        let mut locked = try_lock_each(&known).into_iter();
        let mut standing = |file| match file {
            Ok(Some(file)) => match locked.next() {
                Some(Ok(true)) => Standing::Free(Box::new(file)),
                Some(Ok(false)) => Standing::Held,
                Some(Err(_)) | None => Standing::Unknown,
            },
            Ok(None) => Standing::Missing,
            Err(_) => Standing::Unknown,
        };
        files.into_iter().map(&mut standing).collect()
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Unowned> {
        Self::rename(self, from, to)
    }

    fn remove(&self, name: &str) -> Result<(), Unowned> {
        Self::remove(self, name)
    }

    fn sync(&self) -> Result<(), Unowned> {
        Self::sync(self)
    }
}

impl Host for KnownSettings {
    fn accept(&self, noted: Tuning) -> Result<Tuning, DriveError> {
        Self::accept(self, noted)
    }

    fn set(&self, tuning: &Tuning, value: &str) -> Result<(), DriveError> {
        tuning.set(value)
    }

    fn is(&self, tuning: &Tuning, value: &str) -> bool {
        tuning.is(value)
    }

    fn boot(&self) -> Option<String> {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
    }
}

/// Suffix of a file that is being written; if a crash leaves such a file, its content is meaningless.
pub const UNFINISHED: &str = ".new";

/// Returns the temporary name that a file has until all of its content is on disk.
#[must_use]
pub fn unfinished(name: &str) -> String {
    format!("{name}{UNFINISHED}")
}

/// Replaces a file atomically: after a crash or a power cut, `name` has either its old content or the new content.
/// Returns the new file, locked by this process, once it is on disk under its name.
///
/// # Errors
/// Returns an error of kind `WouldBlock` if another process is replacing the same file, and an error if the file is not
/// trusted or a system call fails.
pub fn replace(folder: &dyn StateFolder, name: &str, content: &[u8]) -> Result<Box<dyn Stored>, Unowned> {
    let temporary = unfinished(name);
    let failed = |source| Unowned::System { path: folder.path().join(name), source };
    let mut file = folder.make_file(&temporary)?;
    if !file.try_lock().map_err(failed)? {
        return Err(failed(io::ErrorKind::WouldBlock.into()));
    }
    file.set_len(0).and_then(|()| file.append(content)).and_then(|()| file.sync_all()).map_err(failed)?;
    folder.rename(&temporary, name)?;
    folder.sync()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read as _;

    /// A power cut may keep any part of a write that is not yet synced, so no file is written in place.
    #[test]
    fn a_file_has_its_old_content_until_the_new_one_is_on_disk() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = State::make(dir.path()).expect("ours");
        drop(replace(&*folder, "note", b"first").expect("written"));
        let mut old = File::open(dir.path().join("note")).expect("a file");
        let new = replace(&*folder, "note", b"second").expect("written");
        let mut kept = String::new();
        old.read_to_string(&mut kept).expect("readable");
        assert_eq!(kept, "first", "not changed in place");
        assert_eq!(fs::read_to_string(dir.path().join("note")).expect("a file"), "second");
        assert_eq!(folder.names().expect("names"), ["note"], "nothing else remains");
        let again = folder.file("note").expect("ours").expect("a file");
        assert!(again.is_locked().expect("locks"), "until the new file is dropped");
        drop(new);
        // Unfinished files left by a crash are overwritten.
        fs::write(dir.path().join(unfinished("note")), "longer than the next").expect("a file");
        drop(replace(&*folder, "note", b"third").expect("written"));
        assert_eq!(fs::read_to_string(dir.path().join("note")).expect("a file"), "third");
    }

    #[test]
    fn a_file_that_cannot_be_replaced_keeps_its_content() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = State::make(dir.path()).expect("ours");
        drop(replace(&*folder, "note", b"first").expect("written"));
        let other = folder.make_file(&unfinished("note")).expect("a file");
        assert!(other.try_lock().expect("locks"));
        let refused = replace(&*folder, "note", b"second").expect_err("another process is writing it");
        assert!(
            matches!(&refused, Unowned::System { source, .. } if source.kind() == io::ErrorKind::WouldBlock),
            "{refused}"
        );
        drop(other);
        fs::remove_file(dir.path().join(unfinished("note"))).expect("removed");
        fs::create_dir(dir.path().join(unfinished("note"))).expect("a folder in the way");
        assert!(replace(&*folder, "note", b"second").is_err());
        assert_eq!(fs::read_to_string(dir.path().join("note")).expect("a file"), "first");
    }
}
