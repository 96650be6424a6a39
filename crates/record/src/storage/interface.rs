//! The file system operations that a library needs.

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::io::{self, BufRead, Read as _};
use std::path::Path;
use std::time::SystemTime;

/// A file system that can store libraries.
pub trait Storage: Debug + Send + Sync {
    /// Creates a file for appending; fails if it exists.
    ///
    /// # Errors
    /// Returns an error if the file exists or the operation fails.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Stored>>;

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or is not a regular file (symbolic links are not followed), or
    /// if the operation fails.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Stored>>;

    /// Opens a regular file for reading and appending.
    ///
    /// # Errors
    /// Same as [`open`](Self::open).
    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn Stored>>;

    /// Opens a folder, to sync its entries or to lock it.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist or the operation fails.
    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn Stored>>;

    /// Creates a folder; its parent must exist.
    ///
    /// # Errors
    /// Returns an error if the folder exists or the operation fails.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Atomically renames a file or folder within its parent folder.
    ///
    /// # Errors
    /// Returns an error if a non-empty folder with that name exists, or the operation fails.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or the operation fails.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist or is not empty, or if the operation fails.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Returns the names of all entries in a folder, in no particular order.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist or the operation fails.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// Returns the type and identity of the file or folder at `path`, without following symbolic links.
    ///
    /// # Errors
    /// Returns an error if there is nothing at `path`, or the operation fails.
    fn look(&self, path: &Path) -> io::Result<Found>;

    /// Returns the wall-clock time, which is shown to people and used to compute the length of an interruption.
    fn now(&self) -> jiff::Timestamp;
}

/// An open file or folder. Dropping it releases its lock.
pub trait Stored: Debug + Send {
    /// Reads the whole content from the beginning.
    ///
    /// # Errors
    /// Returns an error if the operation fails, or the content is longer than `limit_bytes`.
    fn read(&mut self, limit_bytes: u64) -> io::Result<Vec<u8>>;

    /// Reads the content from the beginning, piece by piece, without holding all of it in memory.
    ///
    /// # Errors
    /// Returns an error if the operation fails, or the content is longer than `limit_bytes`.
    fn reader(&mut self, limit_bytes: u64) -> io::Result<Box<dyn BufRead + Send + '_>> {
        Ok(Box::new(io::Cursor::new(self.read(limit_bytes)?)))
    }

    /// Same as [`reader`](Self::reader), but begins at byte `at`, or at the end of the file if it is shorter.
    ///
    /// # Errors
    /// Same as [`reader`](Self::reader).
    fn reader_from(&mut self, at: u64, limit_bytes: u64) -> io::Result<Box<dyn BufRead + Send + '_>> {
        let mut reader = self.reader(limit_bytes)?;
        io::copy(&mut (&mut reader).take(at), &mut io::sink())?;
        Ok(reader)
    }

    /// Same as [`reader`](Self::reader), but the reader keeps the file open.
    ///
    /// # Errors
    /// Same as [`reader`](Self::reader).
    fn into_reader(mut self: Box<Self>, limit_bytes: u64) -> io::Result<Box<dyn BufRead + Send>> {
        Ok(Box::new(io::Cursor::new(self.read(limit_bytes)?)))
    }

    /// Appends `bytes` to the file. After an error, some of the bytes may have been written.
    ///
    /// # Errors
    /// Returns an error if the operation fails, such as on a full disk.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Overwrites the content at offset `at` with identical bytes, so that the next sync writes them to disk
    /// again.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn rewrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Sets the length of the file.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn set_len(&mut self, bytes: u64) -> io::Result<()>;

    /// Returns once the content is on disk.
    ///
    /// # Errors
    /// Returns an error if the disk fails. After an error, everything written since the last successful sync may be
    /// lost, even if a later call succeeds.
    fn sync_data(&mut self) -> io::Result<()>;

    /// Same as [`sync_data`](Self::sync_data), but includes metadata; for a folder, syncs its entries.
    ///
    /// # Errors
    /// Same as [`sync_data`](Self::sync_data).
    fn sync_all(&mut self) -> io::Result<()>;

    /// Takes an exclusive lock; returns false if another process holds it.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn try_lock(&self) -> io::Result<bool>;

    /// Returns whether another process holds the lock, without taking it.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn is_locked(&self) -> io::Result<bool>;

    /// Same as [`is_locked`](Self::is_locked), but never waits. The answer can be outdated for a moment if the holder has
    /// just been killed.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn is_locked_now(&self) -> io::Result<bool> {
        self.is_locked()
    }

    /// Returns the kind and identity of this file or folder.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn found(&self) -> io::Result<Found>;

    /// Returns the length and modification time of this file.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn extent(&self) -> io::Result<Extent>;

    /// Returns the permissions of this file or folder.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn mode(&self) -> io::Result<u32> {
        Ok(0o777)
    }

    /// Sets the permissions of this file or folder.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn set_mode(&mut self, mode: u32) -> io::Result<()> {
        let _ = mode;
        Ok(())
    }

    /// Returns the owner and group of this file or folder.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn owner(&self) -> io::Result<Owner> {
        Ok(Owner { user: 0, group: 0 })
    }

    /// Sets the owner and group of this file or folder.
    ///
    /// # Errors
    /// Returns an error if this process is not permitted to set them, or the operation fails.
    fn set_owner(&mut self, owner: Owner) -> io::Result<()> {
        let _ = owner;
        Ok(())
    }

    /// Returns the names of all entries in this folder, in no particular order, even if its path now refers to
    /// something else.
    ///
    /// # Errors
    /// Returns an error if this is not a folder, or the operation fails.
    fn names(&self) -> io::Result<Vec<OsString>>;

    /// Returns the kind and identity of the entry `name` in this folder, without following symbolic links.
    ///
    /// # Errors
    /// Returns an error if there is no such entry, or the operation fails.
    fn look(&self, name: &OsStr) -> io::Result<Found>;

    /// Creates the file `name` in this folder for appending, even if the folder's path now refers to something
    /// else.
    ///
    /// # Errors
    /// Returns an error if the file exists, or the operation fails.
    fn create_file(&mut self, name: &OsStr) -> io::Result<Box<dyn Stored>>;

    /// Opens the regular file `name` in this folder for reading, even if the folder's path now refers to
    /// something else.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or is not a regular file (symbolic links are not followed), or
    /// if the operation fails.
    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Stored>>;

    /// Removes the file `name` from this folder.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, or the operation fails.
    fn remove_file(&mut self, name: &OsStr) -> io::Result<()>;
}

/// Kind and identity of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Kind of the entry.
    pub kind: FoundKind,
    /// Device and inode number, which are equal for all names of the same file.
    pub identity: (u64, u64),
}

/// Owner and group of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// Owner's user id.
    pub user: u32,
    /// Group id.
    pub group: u32,
}

/// Length and modification time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes.
    pub bytes: u64,
    /// Modification time of the content; `None` if the file system does not record it.
    pub modified: Option<SystemTime>,
}

/// Kinds of directory entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, FIFO, socket or symbolic link.
    Other,
}
