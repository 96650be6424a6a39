//! Opens exactly the named target, with direct I/O if supported.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use engine::{Clock, LoadOptions};
use rustix::fs::{Access, Mode, OFlags};
use stdx::units::MIB;

use super::generic::Generic;
use crate::error::DriveError;
use crate::error::target::TargetError;
use crate::refusal::Refusal;
use crate::usage::loops::Backing;

/// Minimum size of a target. Anything smaller is not usable: an empty card reader, for example, or a loop
/// device without a file.
pub const SMALLEST_BYTES: u64 = 16 * MIB;

/// An open target, either exclusively for writing or read-only.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) fd: OwnedFd,
    /// I/Os use the page cache, because the file system does not support direct I/O.
    pub(crate) is_buffered: bool,
    /// The passthrough device, or why it is not available; `None` if it was not requested.
    pub(crate) generic: Option<Result<Generic, String>>,
    /// The loop devices at or below a block device, with their state when the block device was opened.
    pub(crate) loops: Vec<Backing>,
}

impl Held {
    /// Returns a descriptor that can be neither read nor written.
    pub(crate) fn nothing() -> Result<Self, DriveError> {
        let fd = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| DriveError::System { path: "/", source: errno.into() })?;
        Ok(Self { fd, is_buffered: false, generic: None, loops: Vec::new() })
    }

    /// Returns the target in the form that the engine requires.
    pub(crate) fn to_load<'a>(
        &'a self,
        name: &'a str,
        clock: Clock,
        options: &'a LoadOptions,
    ) -> engine::Target<'a> {
        let generic = self.generic.as_ref();
        let commands = generic.map(|generic| generic.as_ref().map(Generic::commands).map_err(String::as_str));
        let mut target = engine::Target::new(name, self.fd.as_fd(), clock, options);
        (target.is_buffered, target.commands) = (self.is_buffered, commands);
        target
    }
}

/// Checks that the capacity is sufficient for a target; `empty` is the error for a capacity of zero.
pub(super) fn check_capacity(bytes: u64, empty: TargetError) -> Result<(), TargetError> {
    match bytes {
        0 => Err(empty),
        bytes if bytes < SMALLEST_BYTES => Err(TargetError::TooSmall { bytes, least_bytes: SMALLEST_BYTES }),
        _ => Ok(()),
    }
}

/// Checks for write permission. Root always has this permission, except on a read-only file system.
pub(super) fn write_permission(path: &Path) -> Option<Refusal> {
    match rustix::fs::access(path, Access::WRITE_OK) {
        Ok(()) => None,
        Err(rustix::io::Errno::ROFS) => Some(Refusal::ReadOnly),
        Err(_) => Some(Refusal::NoPermission),
    }
}

/// Opens whatever is at `path` for reading. Does not follow a symbolic link that was placed there since the
/// check, and does not block on a FIFO.
pub(super) fn open_nothing_else(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Same as [`open_nothing_else`], but with direct I/O if supported, for a load.
pub(super) fn open_to_load(path: &Path) -> rustix::io::Result<Held> {
    let held = open_direct(path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK)?;
    // Clear O_NONBLOCK, because it would make io_uring fail I/Os that have to wait.
    let flags = rustix::fs::fcntl_getfl(&held.fd)?;
    rustix::fs::fcntl_setfl(&held.fd, flags.difference(OFlags::NONBLOCK))?;
    Ok(held)
}

/// Opens with direct I/O if supported, otherwise buffered.
pub(super) fn open_direct(path: &Path, flags: OFlags) -> rustix::io::Result<Held> {
    let open = |flags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    match open(flags | OFlags::DIRECT) {
        Ok(fd) => Ok(Held { fd, is_buffered: false, generic: None, loops: Vec::new() }),
        Err(rustix::io::Errno::INVAL) => {
            Ok(Held { fd: open(flags)?, is_buffered: true, generic: None, loops: Vec::new() })
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_for_a_load_waits_and_is_of_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, link, pipe) = (dir.path().join("file"), dir.path().join("link"), dir.path().join("pipe"));
        std::fs::write(&file, [0; 4096]).expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        let held = open_to_load(&file).expect("a file");
        let flags = rustix::fs::fcntl_getfl(&held.fd).expect("flags");
        assert!(!flags.contains(OFlags::NONBLOCK) && (held.is_buffered || flags.contains(OFlags::DIRECT)));
        assert_eq!(open_to_load(&link).err(), Some(rustix::io::Errno::LOOP));
        drop(open_to_load(&pipe));
    }

    #[test]
    fn a_target_has_the_least_capacity() {
        let check = |bytes| check_capacity(bytes, TargetError::EmptyFile);
        assert!(matches!(check(0), Err(TargetError::EmptyFile)));
        let small = check(SMALLEST_BYTES - 1);
        assert!(matches!(small, Err(TargetError::TooSmall { bytes, .. }) if bytes == SMALLEST_BYTES - 1));
        assert!(check(SMALLEST_BYTES).is_ok());
    }

    #[test]
    fn files_without_direct_io_can_be_opened() {
        let without = open_direct(Path::new("/proc/self/stat"), OFlags::RDONLY).expect("a file in /proc");
        assert!(without.is_buffered);
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(!open_direct(file.path(), OFlags::RDWR).expect("a file").is_buffered);
    }
}
