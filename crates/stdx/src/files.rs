//! Files that somebody else may have prepared: read within bounds, written without following anything.
//!
//! A path that others can write to may hold a FIFO, a device or a symbolic link where a file is expected. Everything
//! here looks at what was opened, not at a name that may mean something else a moment later.

mod folder;
mod lock;
mod owned;
mod read;
mod resolve;
mod within;

use std::fmt;

use rustix::fs::FileType;

pub use folder::{Folder, WriteError};
pub use lock::{is_locked, try_lock, try_lock_each};
pub use owned::{OwnedFolder, Unowned};
pub use read::{Links, ReadError, open, open_to_append, read, read_text};
pub use resolve::resolve;
pub use within::{create_in, look_in, names_in, open_in, remove_in};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
    /// Something that this build does not know.
    Unknown,
}

impl FileKind {
    /// The kind in the mode of a file (stat(2)).
    #[must_use]
    pub fn of_mode(mode: u32) -> Self {
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => Self::Regular,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice => Self::CharacterDevice,
            FileType::BlockDevice => Self::BlockDevice,
            FileType::Unknown => Self::Unknown,
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Regular => "a regular file",
            Self::Directory => "a directory",
            Self::Symlink => "a symbolic link",
            Self::Fifo => "a FIFO",
            Self::Socket => "a socket",
            Self::CharacterDevice => "a character device",
            Self::BlockDevice => "a block device",
            Self::Unknown => "a file of an unknown kind",
        })
    }
}
