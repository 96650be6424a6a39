//! Reads regular files only, up to a size limit.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use super::kind::FileKind;

/// Whether the last component of a path may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Links are followed: the user typed the path and may intend a link.
    Followed,
    /// Links are refused: others may write to the folder.
    Refused,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A system call failed.
    #[error(transparent)]
    System(#[from] io::Error),
    /// It is not a regular file: reading it could block or have side effects.
    #[error("it is {0}; only regular files are read")]
    NotRegular(FileKind),
    /// The file exceeds the size limit.
    #[error("it is larger than {limit_bytes} bytes, the limit for files of its kind")]
    TooLarge {
        /// The size limit.
        limit_bytes: u64,
    },
    /// The content is not UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::System(error) => error,
            other => Self::new(io::ErrorKind::InvalidData, other),
        }
    }
}

/// Opens a regular file for reading.
///
/// # Errors
/// Returns an error if the system call fails or the path is not a regular file. Devices are recognized
/// without opening them.
pub fn open(path: &Path, links: Links) -> Result<File, ReadError> {
    open_at(CWD, path.as_os_str(), links, OFlags::RDONLY)
}

/// Same as [`open`], but for reading and appending.
///
/// # Errors
/// Same as [`open`].
pub fn open_to_append(path: &Path, links: Links) -> Result<File, ReadError> {
    open_at(CWD, path.as_os_str(), links, OFlags::RDWR | OFlags::APPEND)
}

pub(super) fn open_at(
    folder: impl AsFd,
    path: &OsStr,
    links: Links,
    access: OFlags,
) -> Result<File, ReadError> {
    let nofollow = if links == Links::Refused { OFlags::NOFOLLOW } else { OFlags::empty() };
    // O_PATH does not open the file itself: some devices have side effects when opened, and opening a FIFO blocks.
    let place = rustix::fs::openat(folder, path, OFlags::PATH | OFlags::CLOEXEC | nofollow, Mode::empty())
        .map_err(io::Error::from)?;
    let kind = FileKind::of_mode(rustix::fs::fstat(&place).map_err(io::Error::from)?.st_mode);
    if kind != FileKind::Regular {
        return Err(ReadError::NotRegular(kind));
    }
    let found = format!("/proc/self/fd/{}", place.as_raw_fd());
    let flags = access | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(found, flags, Mode::empty()).map_err(io::Error::from)?))
}

/// Reads a regular file of at most `limit_bytes`.
///
/// # Errors
/// Returns the errors of [`open`], and an error if the file is too large.
pub fn read(path: &Path, links: Links, limit_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    // Do not rely on the file's length: it may grow, and kernel files report 0.
    open(path, links)?.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes { Err(ReadError::TooLarge { limit_bytes }) } else { Ok(bytes) }
}

/// Same as [`read`], but returns text.
///
/// # Errors
/// Returns the errors of [`read`], and an error if the content is not UTF-8.
pub fn read_text(path: &Path, links: Links, limit_bytes: u64) -> Result<String, ReadError> {
    String::from_utf8(read(path, links, limit_bytes)?).map_err(|_| ReadError::NotText)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "four").expect("a file");
        symlink(at("file"), at("link")).expect("a link");
        rustix::fs::mknodat(CWD, at("fifo"), rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .expect("a FIFO");
        let _socket = UnixListener::bind(at("socket")).expect("a socket");
        let read = |name: &str, links, limit| read_text(&at(name), links, limit);
        assert_eq!(read("file", Links::Refused, 4).expect("it fits"), "four");
        assert_eq!(read("link", Links::Followed, 4).expect("it fits"), "four");
        assert!(matches!(read("file", Links::Refused, 3), Err(ReadError::TooLarge { limit_bytes: 3 })));
        let kinds = [("link", FileKind::Symlink), ("fifo", FileKind::Fifo), ("socket", FileKind::Socket)];
        for (name, kind) in kinds {
            let error = read(name, Links::Refused, 4).expect_err(name);
            assert!(matches!(error, ReadError::NotRegular(found) if found == kind), "{name}: {error}");
        }
        let null = read_text(Path::new("/dev/null"), Links::Followed, 4);
        assert!(matches!(null, Err(ReadError::NotRegular(FileKind::CharacterDevice))));
        assert!(matches!(read_text(dir.path(), Links::Followed, 4), Err(ReadError::NotRegular(_))));
        assert!(matches!(read("gone", Links::Refused, 4), Err(ReadError::System(_))));
        std::fs::write(at("file"), [0xff]).expect("a file");
        assert!(matches!(read("file", Links::Refused, 4), Err(ReadError::NotText)));
    }
}
