//! A folder whose content only its owner could have written.
//!
//! Data on which a program acts without being asked must not come from another user. Therefore, each component
//! of the path is opened separately and links are resolved explicitly. Each component must belong to the
//! effective user or to root, and must not be writable by anyone else.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::kind::FileKind;

/// Kernel limit on the number of symbolic links in a path.
const MOST_LINKS: u32 = 40;
/// Write permission of group and others.
const OTHERS_MAY_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Why a folder, or a file in it, is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum Unowned {
    /// A system call failed.
    #[error("{}", path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file or folder belongs to another user.
    #[error("{} belongs to user {owner}, not to user {acting} or root", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// Id of the owner.
        owner: u32,
        /// Effective user id.
        acting: u32,
    },
    /// Other users may write to the file or folder.
    #[error(
        "{} is writable by others (mode {mode:04o}); `chmod go-w {}` fixes this",
        path.display(), path.display()
    )]
    Writable {
        /// The path.
        path: PathBuf,
        /// Permissions of the file or folder.
        mode: u32,
    },
    /// A link in `/proc` along the path does not refer to the path that it shows.
    #[error("{} does not lead to {}, the target of its links", path.display(), shown.display())]
    Elsewhere {
        /// The path as specified.
        path: PathBuf,
        /// The path that results from the text of its links.
        shown: PathBuf,
    },
    /// The file or folder has an unexpected type.
    #[error("{} is {kind}", path.display())]
    Kind {
        /// The path.
        path: PathBuf,
        /// Type of the file or folder.
        kind: FileKind,
    },
}

/// An open folder that belongs to the effective user.
#[derive(Debug)]
pub struct OwnedFolder {
    fd: OwnedFd,
    path: PathBuf,
}

/// The attributes that determine whether another user could have written to a file.
#[derive(Debug, Clone, Copy)]
struct Access {
    owner: u32,
    mode: u32,
}

impl From<&Stat> for Access {
    fn from(stat: &Stat) -> Self {
        Self { owner: stat.st_uid, mode: stat.st_mode & 0o7777 }
    }
}

fn if_it_exists(opened: Result<File, Unowned>) -> Result<Option<File>, Unowned> {
    match opened {
        Err(Unowned::System { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Checks that a component along the path can be trusted. In a sticky folder, other users cannot rename files that
/// they do not own.
fn judge_way(path: &Path, access: Access, acting: u32) -> Result<(), Unowned> {
    if access.owner != 0 && access.owner != acting {
        return Err(Unowned::Foreign { path: path.into(), owner: access.owner, acting });
    }
    if access.mode & OTHERS_MAY_WRITE != 0 && access.mode & STICKY == 0 {
        return Err(Unowned::Writable { path: path.into(), mode: access.mode });
    }
    Ok(())
}

/// Checks that only the effective user could have written to the folder itself, or to a file in it.
fn judge_own(path: &Path, access: Access, acting: u32) -> Result<(), Unowned> {
    if access.owner != acting {
        return Err(Unowned::Foreign { path: path.into(), owner: access.owner, acting });
    }
    if access.mode & OTHERS_MAY_WRITE != 0 {
        return Err(Unowned::Writable { path: path.into(), mode: access.mode });
    }
    Ok(())
}

impl OwnedFolder {
    /// Opens the folder at an absolute path; returns `None` if it is missing.
    ///
    /// # Errors
    /// Returns an error if another user may have written to it, or if a system call fails.
    pub fn open(path: &Path) -> Result<Option<Self>, Unowned> {
        walk(path, None)
    }

    /// Same as [`open`](Self::open), but creates missing components, readable by owner and group.
    ///
    /// # Errors
    /// Same as [`open`](Self::open).
    pub fn make(path: &Path) -> Result<Self, Unowned> {
        walk(path, Some(Mode::from_raw_mode(0o750)))?.ok_or_else(|| failed(path, Errno::NOENT))
    }

    /// Returns the path of the folder with all symbolic links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the sorted names of all entries.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn names(&self) -> Result<Vec<OsString>, Unowned> {
        let failed = |errno| failed(&self.path, errno);
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(self.fd.as_fd()).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Opens a file in the folder for reading and writing; returns `None` if it is missing.
    ///
    /// # Errors
    /// Returns an error if it is not a regular file that belongs to the effective user and is not writable by
    /// others.
    pub fn file(&self, name: &str) -> Result<Option<File>, Unowned> {
        if_it_exists(self.open_file(name, OFlags::RDWR))
    }

    /// Same as [`file`](Self::file), but opens the file only for reading, which a read-only file system allows.
    ///
    /// # Errors
    /// Same as [`file`](Self::file).
    pub fn file_to_read(&self, name: &str) -> Result<Option<File>, Unowned> {
        if_it_exists(self.open_file(name, OFlags::RDONLY))
    }

    /// Same as [`file`](Self::file), but creates the file if it is missing.
    ///
    /// # Errors
    /// Same as [`file`](Self::file).
    pub fn make_file(&self, name: &str) -> Result<File, Unowned> {
        self.open_file(name, OFlags::RDWR | OFlags::CREATE)
    }

    /// Creates a new file in the folder.
    ///
    /// # Errors
    /// Returns the errors of [`file`](Self::file), and an error if the file exists.
    pub fn new_file(&self, name: &str) -> Result<File, Unowned> {
        self.open_file(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
    }

    fn open_file(&self, name: &str, more: OFlags) -> Result<File, Unowned> {
        let path = self.path.join(name);
        // Other users could not have placed a FIFO or device here; if the user did, O_NONBLOCK keeps the open
        // from blocking.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags | more, Mode::from_raw_mode(0o640))
            .map_err(|errno| failed(&path, errno))?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| failed(&path, errno))?;
        let kind = FileKind::of_mode(stat.st_mode);
        if kind != FileKind::Regular {
            return Err(Unowned::Kind { path, kind });
        }
        judge_own(&path, Access::from(&stat), acting())?;
        Ok(File::from(fd))
    }

    /// Renames a file, replacing any file with the new name.
    ///
    /// # Errors
    /// Returns an error if the system call fails.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), Unowned> {
        rustix::fs::renameat(&self.fd, from, &self.fd, to).map_err(|errno| failed(&self.path.join(to), errno))
    }

    /// Removes a file; succeeds if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the system call fails.
    pub fn remove(&self, name: &str) -> Result<(), Unowned> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(failed(&self.path.join(name), errno)),
        }
    }

    /// Syncs the directory. Waits until all creations and removals of files are on disk.
    ///
    /// # Errors
    /// Returns an error if the system call fails.
    pub fn sync(&self) -> Result<(), Unowned> {
        rustix::fs::fsync(&self.fd).map_err(|errno| failed(&self.path, errno))
    }
}

impl From<Unowned> for io::Error {
    fn from(error: Unowned) -> Self {
        let kind = match &error {
            Unowned::System { source, .. } => source.kind(),
            _ => io::ErrorKind::PermissionDenied,
        };
        Self::new(kind, error)
    }
}

fn failed(path: &Path, errno: Errno) -> Unowned {
    Unowned::System { path: path.into(), source: errno.into() }
}

fn acting() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Opens one component after another, each relative to the descriptor of the previous one.
fn walk(path: &Path, make: Option<Mode>) -> Result<Option<OwnedFolder>, Unowned> {
    let acting = acting();
    let here = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let start = PathBuf::from("/");
    let mut fd = rustix::fs::openat(CWD, &start, here, Mode::empty()).map_err(|e| failed(&start, e))?;
    judge_way(&start, Access::from(&rustix::fs::fstat(&fd).map_err(|e| failed(&start, e))?), acting)?;
    let mut at = start;
    let mut above: Vec<OwnedFd> = Vec::new();
    let mut left: VecDeque<OsString> = VecDeque::new();
    push_front(&mut left, path);
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        if name == ".." {
            at.pop();
            fd = above.pop().unwrap_or(fd);
            continue;
        }
        let next_path = at.join(&name);
        let next = match step(&fd, &name, &next_path, make)? {
            Some(next) => next,
            None => return Ok(None),
        };
        let stat = rustix::fs::fstat(&next).map_err(|e| failed(&next_path, e))?;
        match FileKind::of_mode(stat.st_mode) {
            FileKind::Directory => judge_way(&next_path, Access::from(&stat), acting)?,
            FileKind::Symlink if links < MOST_LINKS => {
                // The mode of a link is meaningless; only its owner matters.
                judge_way(&next_path, Access { owner: stat.st_uid, mode: 0 }, acting)?;
                links += 1;
                let target =
                    rustix::fs::readlinkat(&next, "", Vec::new()).map_err(|e| failed(&next_path, e))?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    at = "/".into();
                    fd = above.drain(..).next().unwrap_or(fd);
                }
                push_front(&mut left, &target);
                continue;
            }
            kind => return Err(Unowned::Kind { path: next_path, kind }),
        }
        above.push(std::mem::replace(&mut fd, next));
        at = next_path;
    }
    let stat = rustix::fs::fstat(&fd).map_err(|e| failed(&at, e))?;
    judge_own(&at, Access::from(&stat), acting)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(&fd, ".", flags, Mode::empty()).map_err(|e| failed(&at, e))?;
    if !leads_to(path, &stat) {
        return Err(Unowned::Elsewhere { path: path.into(), shown: at });
    }
    Ok(Some(OwnedFolder { fd, path: at }))
}

/// Returns whether `path` resolves to this folder. A link in `/proc` may refer to something other than the path that it
/// shows.
fn leads_to(path: &Path, folder: &Stat) -> bool {
    let identity = |stat: &Stat| (stat.st_dev, stat.st_ino);
    rustix::fs::stat(path).is_ok_and(|found| identity(&found) == identity(folder))
}

/// Opens the next component without following links. A missing component is created with mode `make`; if
/// `make` is `None`, returns `None`.
fn step(fd: &OwnedFd, name: &OsStr, path: &Path, make: Option<Mode>) -> Result<Option<OwnedFd>, Unowned> {
    let here = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match (rustix::fs::openat(fd, name, here, Mode::empty()), make) {
        (Ok(next), _) => Ok(Some(next)),
        (Err(Errno::NOENT), None) => Ok(None),
        (Err(Errno::NOENT), Some(mode)) => {
            match rustix::fs::mkdirat(fd, name, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(failed(path, errno)),
            }
            rustix::fs::openat(fd, name, here, Mode::empty()).map(Some).map_err(|errno| failed(path, errno))
        }
        (Err(errno), _) => Err(failed(path, errno)),
    }
}

fn push_front(left: &mut VecDeque<OsString>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => left.push_front(name.to_owned()),
            Component::ParentDir => left.push_front("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

    const NOBODY: u32 = 65534;

    fn mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("our own");
    }

    /// Changes the owner of a file. Only root may do this; otherwise, this part of the test is skipped.
    fn given_away(path: &Path) -> bool {
        let done = lchown(path, Some(NOBODY), None).is_ok();
        if !done {
            skips::skip!("only root can create a file that belongs to another user");
        }
        done
    }

    #[test]
    fn the_users_own_folder_is_created_and_opened() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a/b");
        assert!(OwnedFolder::open(&path).expect("a look").is_none());
        let folder = OwnedFolder::make(&path).expect("made");
        drop(folder.new_file("note").expect("a file"));
        assert!(folder.new_file("note").is_err());
        assert!(folder.file("gone").expect("a look").is_none());
        assert_eq!(folder.names().expect("names"), ["note"]);
        folder.rename("note", "other").expect("renamed");
        folder.remove("other").and_then(|()| folder.remove("other")).expect("removed");
        assert_eq!(std::fs::metadata(&path).expect("a folder").permissions().mode() & 0o027, 0);
    }

    #[test]
    fn a_component_writable_by_others_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a/b");
        OwnedFolder::make(&path).expect("made");
        for (place, bits) in [("a", 0o777), ("a", 0o775), ("a/b", 0o777), ("a/b", 0o770), ("a/b", 0o1777)] {
            mode(&dir.path().join(place), bits);
            let error = OwnedFolder::open(&path).expect_err(place);
            assert!(matches!(error, Unowned::Writable { .. }), "{place} {bits:o}: {error}");
            mode(&dir.path().join(place), 0o750);
        }
        // In a sticky folder, such as /tmp, others cannot rename our files.
        mode(&dir.path().join("a"), 0o1777);
        OwnedFolder::open(&path).expect("the path is safe").expect("it exists");
    }

    #[test]
    fn a_component_owned_by_another_user_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a/b");
        OwnedFolder::make(&path).expect("made");
        for place in ["a", "a/b"] {
            if !given_away(&dir.path().join(place)) {
                return;
            }
            let error = OwnedFolder::open(&path).expect_err(place);
            assert!(matches!(error, Unowned::Foreign { owner: NOBODY, .. }), "{place}: {error}");
            chown(dir.path().join(place), Some(0), None).expect("root");
        }
        symlink(&path, dir.path().join("link")).expect("a link");
        OwnedFolder::open(&dir.path().join("link")).expect("our own link").expect("it exists");
        assert!(given_away(&dir.path().join("link")));
        assert!(matches!(OwnedFolder::open(&dir.path().join("link")), Err(Unowned::Foreign { .. })));
    }

    #[test]
    fn files_must_be_regular_and_writable_only_by_their_owner() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = OwnedFolder::make(&dir.path().join("state")).expect("made");
        let at = |name: &str| dir.path().join("state").join(name);
        std::fs::write(dir.path().join("victim"), "mine").expect("a file");
        symlink(dir.path().join("victim"), at("link")).expect("a link");
        assert!(folder.file("link").is_err() && folder.make_file("link").is_err());
        rustix::fs::mknodat(CWD, at("fifo"), rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .expect("a FIFO");
        assert!(matches!(folder.file("fifo"), Err(Unowned::Kind { kind: FileKind::Fifo, .. })));
        drop(folder.make_file("note").expect("a file"));
        mode(&at("note"), 0o666);
        assert!(matches!(folder.file("note"), Err(Unowned::Writable { .. })));
        mode(&at("note"), 0o600);
        assert!(folder.file("note").expect("ours").is_some());
        if given_away(&at("note")) {
            assert!(matches!(folder.file("note"), Err(Unowned::Foreign { .. })));
        }
    }

    #[test]
    fn links_along_the_path_are_resolved() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("a/b")).expect("folders");
        symlink("../a/./b", dir.path().join("a/relative")).expect("a link");
        symlink("loop", dir.path().join("loop")).expect("a link");
        let found = OwnedFolder::open(&dir.path().join("a/relative")).expect("ours").expect("there");
        assert_eq!(found.path(), dir.path().join("a/b").canonicalize().expect("a path"));
        assert!(OwnedFolder::open(&dir.path().join("loop")).is_err());
    }
}
