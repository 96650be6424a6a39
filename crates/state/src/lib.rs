//! The location of restore records: a directory that no other user can write to, or that of a simulation; and the
//! host whose settings they restore.
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
    /// Returns an error if another user can have written to it, or if a system call fails.
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
    /// Returns an error if it is not a regular file of the effective user that no other user can write to.
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

    /// Renames a file, replacing an existing one.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    fn rename(&self, from: &str, to: &str) -> Result<(), Unowned>;

    /// Removes a file; succeeds if it does not exist.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    fn remove(&self, name: &str) -> Result<(), Unowned>;

    /// Returns when all creations and removals of files are on disk.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    fn sync(&self) -> Result<(), Unowned>;
}

/// The state of a file's lock.
#[derive(Debug)]
pub enum Standing {
    /// The file was not locked; this process now holds the lock until the file is closed.
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
    /// Returns the reason if it is not, or no longer exists.
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

/// Replaces the content of a newly opened file; returns when it is on disk.
///
/// # Errors
/// Returns an error if a system call fails.
pub fn replace(file: &mut dyn Stored, content: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.append(content)?;
    file.sync_all()
}
