//! Identity of block devices and files.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags};

use sysfs::{DeviceNumber, SysDevice};

/// Identity of a block device or file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Thing {
    Device(DeviceNumber),
    /// A regular file, identified by `st_dev` and `st_ino`.
    File {
        volume: DeviceNumber,
        inode: u64,
    },
}

impl std::fmt::Display for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Device(number) => write!(f, "device {number}"),
            Self::File { volume, inode } => write!(f, "file {inode} on volume {volume}"),
        }
    }
}

/// Returns the object at a path, following symbolic links. Does not query file servers, which could hang.
pub(crate) fn thing_at(path: &Path) -> Option<Thing> {
    thing(rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, FLAGS).ok()?)
}

/// Returns the object that an open descriptor refers to.
pub(crate) fn thing_of_file(file: impl AsFd) -> Option<Thing> {
    thing(rustix::fs::statx(file, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, FLAGS).ok()?)
}

const FLAGS: StatxFlags = StatxFlags::TYPE.union(StatxFlags::INO);

fn thing(found: rustix::fs::Statx) -> Option<Thing> {
    match FileType::from_raw_mode(u32::from(found.stx_mode)) {
        FileType::BlockDevice => {
            let number = DeviceNumber { major: found.stx_rdev_major, minor: found.stx_rdev_minor };
            Some(Thing::Device(number))
        }
        FileType::RegularFile => {
            let volume = DeviceNumber { major: found.stx_dev_major, minor: found.stx_dev_minor };
            Some(Thing::File { volume, inode: found.stx_ino })
        }
        _ => None,
    }
}

/// Opens the device through any of its nodes that still refers to it.
pub(super) fn opened(device: &SysDevice, flags: OFlags) -> io::Result<OwnedFd> {
    let nodes = [format!("/dev/{}", device.kname), format!("/dev/block/{}", device.number)];
    let is_it = |node: &&String| thing_at(Path::new(node)) == Some(Thing::Device(device.number));
    let node = nodes.iter().find(is_it).ok_or(io::ErrorKind::NotFound)?;
    let opened = rustix::fs::open(node.as_str(), flags | OFlags::CLOEXEC, Mode::empty())?;
    if thing_of_file(&opened) != Some(Thing::Device(device.number)) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(opened)
}
