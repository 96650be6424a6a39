//! Files registered with `io_uring`. The kernel lists only their paths, which may refer to other files by now.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags};

use super::descriptor::{self, Elsewhere};
use super::overlay;
use super::procfs::{entries, read, unescape};

/// `FUSE_SUPER_MAGIC`: opening a file on such a file system waits for its server.
const FUSE: u64 = 0x6573_5546;

/// The kernel's name for a descriptor of `io_uring_setup(2)`.
pub(super) const NAME: &str = "anon_inode:[io_uring]";
/// Number of attempts to read the list of registered files, which the kernel shows only while no submission
/// to the ring is in progress.
const RING_LOOKS: u32 = 20;

/// Returns the paths of the files registered with a ring. The ring keeps these files open without a descriptor, and
/// the kernel does not show how they were opened.
pub(super) fn registered(info: &Path) -> Vec<PathBuf> {
    let listed = |_| registered_in(&read(info).ok()?);
    (0..RING_LOOKS).find_map(listed).unwrap_or_default()
}

/// Returns the paths after `UserFiles: 2` (io_uring/fdinfo.c), such as ` 0: /dev/sdb`; `None` if the list is missing.
fn registered_in(info: &str) -> Option<Vec<PathBuf>> {
    let mut lines = info.lines().skip_while(|line| !line.starts_with("UserFiles:"));
    lines.next()?;
    let slot = |line: &str| {
        let (slot, path) = line.split_once(": ")?;
        slot.trim().parse::<u32>().ok()?;
        Some(unescape(path))
    };
    Some(lines.take_while(|line| !line.starts_with("UserBufs:")).filter_map(slot).collect())
}

/// Returns the link in `/proc` to the descriptor of the process in `folder` for the file registered as
/// `path`; `None` if there is no such descriptor, or if there are several for different files.
pub(super) fn descriptor_of(folder: &Path, path: &Path) -> Option<PathBuf> {
    let is_of_it = |link: &PathBuf| fs::read_link(link).is_ok_and(|at| at == path);
    let mut links = entries(&folder.join("fd")).into_iter().filter(is_of_it);
    let first = links.next()?;
    let identity = |link: &Path| {
        let found =
            rustix::fs::statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO)
                .ok()?;
        Some((found.stx_dev_major, found.stx_dev_minor, found.stx_ino))
    };
    let own = identity(&first)?;
    links.all(|link| identity(&link) == Some(own)).then_some(first)
}

/// Returns whether the file at `within` must be the file registered as `path`: according to the kernel, a process
/// has it open, or the node has the kernel's name for its device. Any other special file is assumed to be the
/// registered file.
pub(super) fn is_at(path: &Path, within: &Path) -> bool {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(within, flags, Mode::empty()) else { return false };
    let Ok(found) =
        rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE)
    else {
        return false;
    };
    match FileType::from_raw_mode(u32::from(found.stx_mode)) {
        FileType::Directory => false,
        FileType::RegularFile => is_open(&file),
        FileType::BlockDevice => bears_own_name(path, (found.stx_rdev_major, found.stx_rdev_minor)),
        _ => true,
    }
}

/// Returns whether a regular file is open in any process; a file that replaced the registered one is unlikely to be
/// open. `false` where unknown.
pub(super) fn is_open(file: &OwnedFd) -> bool {
    let is_remote = rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type as u64 == FUSE);
    let reopened = || overlay::reopened(file);
    !is_remote && reopened().is_some_and(|file| descriptor::open_elsewhere(file) == Elsewhere::Open)
}

/// Returns whether a node is `/dev/KNAME` for the device with that kernel name.
fn bears_own_name(path: &Path, (major, minor): (u32, u32)) -> bool {
    let link = fs::read_link(format!("/sys/dev/block/{major}:{minor}"));
    let kname =
        link.ok().and_then(|link| link.file_name().map(Path::new).map(|kname| Path::new("/dev").join(kname)));
    kname.is_some_and(|node| node == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_registered_with_a_ring_are_listed_until_its_buffers() {
        let info = "SqThread:\t-1\nUserFiles:\t3\n    0: /dev/sdb\n    1: <none>\n    2: /a\\040b\nUserBufs:\t1\n    \
                    0: 0x7f01/4096\nPollList:\n";
        let expected = ["/dev/sdb", "<none>", "/a b"].map(PathBuf::from).to_vec();
        assert_eq!(registered_in(info), Some(expected));
        assert_eq!(registered_in("SqThread:\t-1\n"), None);
    }

    #[test]
    fn another_file_at_the_path_of_a_registered_one_is_noticed() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        // `is_at` accepts the file at the path only if the file is known to be open.
        let is_known = is_open(&rustix::fs::open(file.path(), OFlags::PATH, Mode::empty()).expect("a file"));
        assert_eq!(is_at(file.path(), file.path()), is_known);
        let path = file.into_temp_path();
        assert!(!is_at(&path, &path), "nobody has it open");
        let folder = path.parent().expect("a folder");
        assert!(!is_at(folder, folder), "it may be mounted over a file");
        assert!(!is_at(Path::new("/no/such/file"), Path::new("/no/such/file")));
        assert!(is_at(Path::new("/dev/null"), Path::new("/dev/null")));
    }

    #[test]
    fn descriptors_of_a_registered_file_are_those_with_its_path() {
        let process = tempfile::tempdir().expect("a folder");
        fs::create_dir(process.path().join("fd")).expect("a folder");
        let link = |name: &str, to: &str| {
            std::os::unix::fs::symlink(to, process.path().join("fd").join(name)).expect("a link");
        };
        let found = || descriptor_of(process.path(), Path::new("/dev/null"));
        link("3", "/dev/zero");
        assert_eq!(found(), None);
        link("4", "/dev/null");
        assert_eq!(found(), Some(process.path().join("fd/4")));
    }

    #[test]
    fn nodes_named_after_another_device_are_not_trusted() {
        if !Path::new("/sys/dev/block/7:0").exists() {
            skips::skip!("there is no loop0");
            return;
        }
        assert!(bears_own_name(Path::new("/dev/loop0"), (7, 0)));
        assert!(!bears_own_name(Path::new("/dev/loop1"), (7, 0)));
        assert!(!bears_own_name(Path::new("/srv/loop0"), (7, 0)));
    }
}
