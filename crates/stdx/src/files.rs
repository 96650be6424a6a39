//! Safe access to files that another user may have tampered with: reads are bounded, and writes do not follow
//! links.
//!
//! A path that others can write to may lead to a FIFO, a device or a symbolic link where a file is expected. All
//! checks here apply to the opened descriptor, not to a name that may refer to something else a moment later.

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
pub use within::{create_in, look_in, names_in, open_folder, open_in, remove_in};

/// The type of a file.
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
    /// A type unknown to this build.
    Unknown,
}

impl FileKind {
    /// Returns the type encoded in the mode of a file (stat(2)).
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
