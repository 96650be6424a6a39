//! Atomically creates or replaces files in an open folder.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::kind::FileKind;
use super::read::{self, Links, ReadError};

/// Number of random names to try: one collision is bad luck, several are an attack.
const MOST_ATTEMPTS: u32 = 16;
/// Number of files that are written before the first of them is replaced; all of them are open at the same time.
const MOST_TOGETHER: usize = 64;

/// Names of unfinished files consist of this, random hexadecimal digits and the end.
const UNFINISHED_START: &str = ".plateau-";
const DIGITS: usize = 32;
const UNFINISHED_END: &str = ".tmp";

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A system call failed.
    #[error("{}", path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// What exists at this path must not be replaced.
    #[error("{} is {kind}", path.display())]
    InTheWay {
        /// The path.
        path: PathBuf,
        /// What is at the path.
        kind: FileKind,
    },
    /// The expected folder has been replaced by another folder.
    #[error("{} has been replaced by another directory", path.display())]
    Replaced {
        /// The path.
        path: PathBuf,
    },
    /// The path does not end in a file name.
    #[error("{} does not end in a file name", path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
}

/// An open folder. Replacing the folder at its path does not affect the open descriptor.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder at `path`, creating it and its parents if they are missing. Parents may be symbolic
    /// links; the folder itself may be one only if `follow` is set.
    ///
    /// # Errors
    /// Returns an error if the path is not a folder, or if a system call fails.
    pub fn make(path: &Path, follow: bool) -> Result<Self, WriteError> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let failed = |source| WriteError::System { path: path.into(), source };
        if let Some(kind) = kind_at(CWD, path.as_os_str()).map_err(failed)? {
            if kind != FileKind::Directory && !(follow && kind == FileKind::Symlink) {
                return Err(WriteError::InTheWay { path: path.into(), kind });
            }
        } else {
            std::fs::create_dir_all(path).map_err(failed)?;
        }
        let nofollow = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | nofollow;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        Ok(Self { fd, path: path.into() })
    }

    /// Opens the folder at `path`, following links, if it has the given device and inode number. Writes
    /// therefore cannot be redirected by replacing the folder at the path.
    ///
    /// # Errors
    /// Returns an error if the folder is missing or has been replaced, or if a system call fails.
    pub fn known(path: &Path, identity: (u64, u64)) -> Result<Self, WriteError> {
        let failed = |path: &Path, source| WriteError::System { path: path.into(), source };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| failed(path, errno.into()))?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| failed(path, errno.into()))?;
        if (stat.st_dev, stat.st_ino) != identity {
            return Err(WriteError::Replaced { path: path.into() });
        }
        Ok(Self { fd, path: path.into() })
    }

    /// Returns the open folder, for [`create_in`](super::create_in) and the like.
    #[must_use]
    pub fn into_file(self) -> File {
        File::from(self.fd)
    }

    /// Opens the folder that contains the file at `path`; returns it with the name of the file.
    ///
    /// # Errors
    /// Returns the errors of [`make`](Self::make), and an error if the path does not end in a file name.
    pub fn around(path: &Path) -> Result<(Self, &OsStr), WriteError> {
        let name = path.file_name().filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/"));
        let name = name.ok_or_else(|| WriteError::NoName { path: path.into() })?;
        Ok((Self::make(path.parent().unwrap_or(Path::new(".")), true)?, name))
    }

    /// Writes a file, replacing a regular file with the same name. Readers see either the old or the new content, and a
    /// failed write leaves no temporary file. Links are not followed, and only regular files are ever replaced.
    ///
    /// # Errors
    /// Returns an error if the name belongs to anything other than a regular file, or if a system call fails.
    pub fn replace(&self, name: &OsStr, bytes: &[u8]) -> Result<(), WriteError> {
        self.replace_with(name, |file| file.write_all(bytes).map_err(|source| self.failed(name, source)))
    }

    /// Same as [`replace`](Self::replace), for content that is written incrementally. If `write` fails, the old file
    /// remains.
    ///
    /// # Errors
    /// Returns the errors of [`replace`](Self::replace) and of `write`.
    pub fn replace_with<T, E: From<WriteError>>(
        &self,
        name: &OsStr,
        write: impl FnOnce(&mut File) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut unfinished = self.unfinished(name)?;
        let value = write(&mut unfinished.file)?;
        unfinished.sync()?;
        unfinished.rename()?;
        self.sync();
        Ok(value)
    }

    /// Writes several files in any folders, each as [`replace`](Self::replace) does, in groups of up to 64. A group is
    /// on disk before its first file is replaced: if there is no space for the whole group, none of its files is
    /// replaced. A folder that consecutive files share is synced once.
    ///
    /// # Errors
    /// Returns the errors of [`replace`](Self::replace).
    pub fn replace_each(files: &[(&Self, &OsStr, &[u8])]) -> Result<(), WriteError> {
        files.chunks(MOST_TOGETHER).try_for_each(Self::replace_together)
    }

    fn replace_together(files: &[(&Self, &OsStr, &[u8])]) -> Result<(), WriteError> {
        let mut all = Vec::with_capacity(files.len());
        for (folder, name, bytes) in files {
            let mut unfinished = folder.unfinished(name)?;
            let written = unfinished.file.write_all(bytes);
            written.map_err(|source| folder.failed(name, source))?;
            all.push(unfinished);
        }
        // The first call makes the file system commit the creation of all of them.
        all.iter().try_for_each(Unfinished::sync)?;
        let mut folders: Vec<&Self> = files.iter().map(|(folder, ..)| *folder).collect();
        folders.dedup_by(|a, b| std::ptr::eq(*a, *b));
        all.into_iter().try_for_each(Unfinished::rename)?;
        folders.into_iter().for_each(Self::sync);
        Ok(())
    }

    fn failed(&self, name: &OsStr, source: io::Error) -> WriteError {
        WriteError::System { path: self.path.join(name), source }
    }

    /// Creates the file that will replace the file `name`, with the same permissions.
    fn unfinished<'f>(&'f self, name: &'f OsStr) -> Result<Unfinished<'f>, WriteError> {
        self.check(name)?;
        let created = self.mode_of(name).and_then(|mode| Ok((mode, self.create_unfinished()?)));
        let (mode, (file, temporary)) = created.map_err(|source| self.failed(name, source))?;
        Ok(Unfinished { folder: self, name, mode, file, temporary: Some(temporary) })
    }

    fn sync(&self) {
        // Errors are ignored: some file systems cannot sync folders, and the files themselves are on disk.
        let _ = rustix::fs::fsync(&self.fd);
    }

    /// Checks that `name` may be written: it must be unused or belong to a regular file.
    ///
    /// # Errors
    /// Returns an error if the name belongs to a different type of file, or if a system call fails.
    pub fn check(&self, name: &OsStr) -> Result<(), WriteError> {
        let path = || self.path.join(name);
        if name.as_encoded_bytes().contains(&b'/') || name == ".." || name == "." || name.is_empty() {
            return Err(WriteError::NoName { path: path() });
        }
        match kind_at(&self.fd, name).map_err(|source| WriteError::System { path: path(), source })? {
            None | Some(FileKind::Regular) => Ok(()),
            Some(kind) => Err(WriteError::InTheWay { path: path(), kind }),
        }
    }

    /// Returns the first bytes, at most `limit_bytes`, of the regular file `name`; empty if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn beginning(&self, name: &OsStr, limit_bytes: u64) -> io::Result<Vec<u8>> {
        match read::open_at(&self.fd, name, Links::Refused, OFlags::RDONLY) {
            Ok(file) => {
                let mut bytes = Vec::new();
                file.take(limit_bytes).read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Err(ReadError::System(error)) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the folder contains a regular file with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        matches!(kind_at(&self.fd, OsStr::new(name)), Ok(Some(FileKind::Regular)))
    }

    /// Removes the unfinished files of programs that were killed while they wrote to the folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read or a file cannot be removed.
    pub fn remove_unfinished(&self) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if !is_unfinished(name) {
                continue;
            }
            let Ok(file) = read::open_at(&self.fd, name, Links::Refused, OFlags::RDONLY) else { continue };
            // A program that is still writing the file holds the lock.
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?;
            }
        }
        Ok(())
    }

    /// Returns the permissions of the file to be replaced, so that a private file stays private.
    fn mode_of(&self, name: &OsStr) -> io::Result<Option<Mode>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Mode::from_raw_mode(stat.st_mode & 0o777))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Creates a file with an unpredictable name, so that another user cannot have created it in advance.
    fn create_unfinished(&self) -> io::Result<(File, String)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..MOST_ATTEMPTS {
            let mut random = [0; 16];
            rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
            let name = format!("{UNFINISHED_START}{:0DIGITS$x}{UNFINISHED_END}", u128::from_ne_bytes(random));
            match rustix::fs::openat(&self.fd, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(fd) => {
                    // Some file systems have no locks; there, the file is only at risk if another program removes
                    // unfinished files at the same time.
                    let _ = rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive);
                    return Ok((File::from(fd), name));
                }
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(Errno::EXIST.into())
    }
}

/// A file that does not have its final name yet. The file is removed if this value is dropped before it is
/// renamed.
struct Unfinished<'f> {
    folder: &'f Folder,
    /// The name that the file will have.
    name: &'f OsStr,
    /// Its permissions, if it replaces a file.
    mode: Option<Mode>,
    file: File,
    /// Its temporary name; `None` once it has been renamed.
    temporary: Option<String>,
}

impl Unfinished<'_> {
    /// Waits until the content is on disk.
    fn sync(&self) -> Result<(), WriteError> {
        let permitted = self.mode.map_or(Ok(()), |mode| Ok(rustix::fs::fchmod(&self.file, mode)?));
        permitted.and_then(|()| self.file.sync_all()).map_err(|source| self.folder.failed(self.name, source))
    }

    fn rename(mut self) -> Result<(), WriteError> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        rustix::fs::renameat(&self.folder.fd, temporary, &self.folder.fd, self.name)
            .map_err(|errno| self.folder.failed(self.name, errno.into()))?;
        self.temporary = None;
        Ok(())
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Report the failed write, not an error during clean-up.
            let _ = rustix::fs::unlinkat(&self.folder.fd, temporary, AtFlags::empty());
        }
    }
}

/// Returns whether this is the name of an unfinished file.
fn is_unfinished(name: &OsStr) -> bool {
    let middle =
        name.to_str().and_then(|name| name.strip_prefix(UNFINISHED_START)?.strip_suffix(UNFINISHED_END));
    middle.is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns the type of `name` without following links; `None` if it does not exist.
fn kind_at(folder: impl rustix::fd::AsFd, name: &OsStr) -> io::Result<Option<FileKind>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileKind::of_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn regular_files_are_replaced_as_a_whole_and_keep_their_mode() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a/b/report");
        let (folder, name) = Folder::around(&path).expect("it is created");
        folder.replace(name, b"one").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("our file");
        folder.replace(name, b"two").expect("written");
        assert_eq!(std::fs::read(&path).expect("a file"), b"two");
        assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
        assert_eq!(names(&dir.path().join("a/b")), ["report"]);
    }

    #[test]
    fn only_regular_files_are_replaced_and_no_temporary_file_remains() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("victim"), "mine").expect("a file");
        symlink(at("victim"), at("link")).expect("a link");
        symlink(at("gone"), at("dangling")).expect("a link");
        std::fs::create_dir(at("dir")).expect("a folder");
        let folder = Folder::make(dir.path(), false).expect("a folder");
        for name in ["link", "dangling", "dir"] {
            let error = folder.replace(name.as_ref(), b"x").expect_err(name);
            assert!(matches!(error, WriteError::InTheWay { .. }), "{error}");
        }
        for name in ["..", ".", "", "dir/x", "../x"] {
            assert!(matches!(folder.replace(name.as_ref(), b"x"), Err(WriteError::NoName { .. })), "{name}");
        }
        assert_eq!(std::fs::read(at("victim")).expect("a file"), b"mine");
        assert_eq!(names(dir.path()), ["dangling", "dir", "link", "victim"]);
    }

    #[test]
    fn several_files_are_replaced_together_or_not_at_all() {
        let dir = tempfile::tempdir().expect("a folder");
        let (folder, other) = (dir.path().join("a"), dir.path().join("b"));
        let [one, two] = [&folder, &other].map(|path| Folder::make(path, false).expect("a folder"));
        std::fs::create_dir(other.join("taken")).expect("a folder");
        let files: [(&Folder, &OsStr, &[u8]); 3] =
            [(&one, "x".as_ref(), b"1"), (&one, "y".as_ref(), b"2"), (&two, "x".as_ref(), b"3")];
        Folder::replace_each(&files).expect("written");
        let read = |path: &Path, name: &str| std::fs::read(path.join(name)).expect("a file");
        assert_eq!([read(&folder, "x"), read(&folder, "y"), read(&other, "x")], [b"1", b"2", b"3"]);
        let changed: [(&Folder, &OsStr, &[u8]); 2] =
            [(&one, "x".as_ref(), b"4"), (&two, "taken".as_ref(), b"5")];
        assert!(matches!(Folder::replace_each(&changed), Err(WriteError::InTheWay { .. })));
        assert_eq!(read(&folder, "x"), b"1");
        assert_eq!(
            (names(&folder), names(&other)),
            (["x", "y"].map(str::to_owned).to_vec(), ["taken", "x"].map(str::to_owned).to_vec())
        );
    }

    #[test]
    fn unfinished_files_of_killed_programs_are_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::make(dir.path(), false).expect("a folder");
        let (killed, in_use) = (folder.create_unfinished(), folder.create_unfinished());
        let (killed, in_use) = (killed.expect("a file").1, in_use.expect("a file"));
        let others = [".plateau-0.tmp", ".plateau-0123456789abcdef0123456789abcdeg.tmp", "report"];
        for name in others {
            std::fs::write(dir.path().join(name), "").expect("a file");
        }
        folder.remove_unfinished().expect("removed");
        let left = names(dir.path());
        assert!(!left.contains(&killed) && left.contains(&in_use.1), "{left:?}");
        assert!(others.iter().all(|name| left.iter().any(|found| found == name)), "{left:?}");
        drop(in_use.0);
        folder.remove_unfinished().expect("removed");
        assert_eq!(names(dir.path()).len(), others.len());
    }

    #[test]
    fn a_folder_that_replaced_another_is_not_written_to() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        for name in ["run", "other"] {
            std::fs::create_dir(at(name)).expect("a folder");
        }
        let stat = rustix::fs::stat(at("run")).expect("a folder");
        let identity = (stat.st_dev, stat.st_ino);
        symlink(at("run"), at("link")).expect("a link");
        for (name, is_it) in [("run", true), ("link", true), ("other", false), ("gone", false)] {
            assert_eq!(Folder::known(&at(name), identity).is_ok(), is_it, "{name}");
        }
        std::fs::rename(at("run"), at("away")).expect("renamed");
        std::fs::rename(at("other"), at("run")).expect("renamed");
        assert!(matches!(Folder::known(&at("run"), identity), Err(WriteError::Replaced { .. })));
        assert!(!at("gone").exists(), "a missing folder must not be created");
    }

    #[test]
    fn a_link_to_a_folder_is_followed_only_where_allowed() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("dir")).expect("a folder");
        symlink(at("dir"), at("link")).expect("a link");
        assert!(matches!(Folder::make(&at("link"), false), Err(WriteError::InTheWay { .. })));
        let (folder, name) =
            Folder::around(&at("link/report")).map(|(f, n)| (f, n.to_owned())).expect("a parent");
        folder.replace(&name, b"x").expect("written");
        assert_eq!(names(&at("dir")), ["report"]);
        for path in ["", "/", "..", "a/"] {
            assert!(matches!(Folder::around(Path::new(path)), Err(WriteError::NoName { .. })), "{path}");
        }
    }
}
