//! Access to the entries of an open folder, even if its path now leads elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RawDir};

use super::read::{self, Links, ReadError};

/// Number of bytes of a folder to read at a time: about a thousand entries.
const LISTED_BYTES: usize = 1 << 16;

/// Opens a folder, following a symbolic link. Does not block even if the path now refers to a FIFO.
///
/// # Errors
/// Returns an error if nothing exists at `path`, it is not a folder, or a system call fails.
pub fn open_folder(path: &Path) -> io::Result<File> {
    // If `DIRECTORY` were not set, opening a FIFO would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Returns the names of all entries in `folder`, in no particular order.
///
/// # Errors
/// Returns an error if `folder` is not a folder, or the system call fails.
pub fn names_in(folder: &File) -> io::Result<Vec<OsString>> {
    // A descriptor of its own, which is at the first entry.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let own = rustix::fs::openat(folder, ".", flags, Mode::empty())?;
    let mut buffer = Vec::with_capacity(LISTED_BYTES);
    let mut entries = RawDir::new(own, buffer.spare_capacity_mut());
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    Ok(names)
}

/// Returns the mode of `name` in `folder`, and its device and inode number, without following a symbolic link.
///
/// # Errors
/// Returns an error if there is no such entry, or the system call fails.
pub fn look_in(folder: &File, name: &OsStr) -> io::Result<(u32, (u64, u64))> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((stat.st_mode, (stat.st_dev, stat.st_ino)))
}

/// Creates the file `name` in `folder` for reading and appending.
///
/// # Errors
/// Returns an error if the file exists, the folder was removed, or the system call fails.
pub fn create_in(folder: &File, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o666))?))
}

/// Creates the file `name` in `folder`, replacing any file or symbolic link with this name, for writing at any
/// offset.
///
/// # Errors
/// Returns an error if the name belongs to a folder, the folder was removed, or a system call fails.
pub fn create_anew_in(folder: &File, name: &OsStr) -> io::Result<File> {
    match remove_in(folder, name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o666))?))
}

/// Opens the regular file `name` in `folder` for reading.
///
/// # Errors
/// Returns an error if it does not exist or is not a regular file (symbolic links are not followed), or if a
/// system call fails.
pub fn open_in(folder: &File, name: &OsStr) -> Result<File, ReadError> {
    read::open_at(folder, name, Links::Refused, OFlags::RDONLY)
}

/// Same as [`open_in`], but for reading and appending.
///
/// # Errors
/// Same as [`open_in`].
pub fn open_to_append_in(folder: &File, name: &OsStr) -> Result<File, ReadError> {
    read::open_at(folder, name, Links::Refused, OFlags::RDWR | OFlags::APPEND)
}

/// Removes the file `name` from `folder`.
///
/// # Errors
/// Returns an error if it does not exist or is a folder, or if the system call fails.
pub fn remove_in(folder: &File, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_folder_remains_the_same_when_its_path_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        let (mine, other) = (dir.path().join("mine"), dir.path().join("other"));
        for folder in [&mine, &other] {
            std::fs::create_dir(folder).expect("a folder");
            std::fs::write(folder.join("file"), "").expect("a file");
        }
        let held = File::open(&mine).expect("a folder");
        std::fs::rename(&mine, dir.path().join("away")).expect("renamed");
        std::os::unix::fs::symlink(&other, &mine).expect("a link");
        assert_eq!(names_in(&held).expect("names"), ["file"]);
        assert!(look_in(&held, "file".as_ref()).is_ok());
        remove_in(&held, "file".as_ref()).expect("removed");
        assert!(other.join("file").exists() && !dir.path().join("away/file").exists());
        assert!(remove_in(&held, "file".as_ref()).is_err());
        drop(create_in(&held, "new".as_ref()).expect("created"));
        assert!(dir.path().join("away/new").exists() && !other.join("new").exists());
        assert!(create_in(&held, "new".as_ref()).is_err(), "it exists");
    }

    #[test]
    fn a_file_created_anew_never_leads_elsewhere() {
        let dir = tempfile::tempdir().expect("a folder");
        let (folder, other) = (open_folder(dir.path()).expect("a folder"), dir.path().join("other"));
        std::fs::write(&other, "mine").expect("a file");
        std::os::unix::fs::symlink(&other, dir.path().join("name")).expect("a link");
        let file = create_anew_in(&folder, "name".as_ref()).expect("created");
        std::os::unix::fs::FileExt::write_all_at(&file, b"later", 0).expect("written");
        assert_eq!(std::fs::read_to_string(&other).expect("a file"), "mine");
        assert_eq!(std::fs::read_to_string(dir.path().join("name")).expect("a file"), "later");
        std::fs::create_dir(dir.path().join("folder")).expect("a folder");
        assert!(create_anew_in(&folder, "folder".as_ref()).is_err());
    }

    #[test]
    fn a_fifo_in_place_of_a_folder_is_refused_at_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let fifo = dir.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, Mode::RWXU).expect("a FIFO");
        assert_eq!(open_folder(&fifo).expect_err("a FIFO").kind(), io::ErrorKind::NotADirectory);
        assert!(open_folder(dir.path()).is_ok());
    }
}
