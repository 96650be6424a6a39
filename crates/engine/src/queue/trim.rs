//! Trims: `BLKDISCARD` on block devices, `fallocate` with `FALLOC_FL_PUNCH_HOLE` on files, resets of zones.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use rustix::fs::{FallocateFlags, FileType};

use crate::load::zones::kernel::reset;

/// `BLKDISCARD` from linux/fs.h, `_IO(0x12, 119)`.
const BLKDISCARD: libc::Ioctl = 0x1277;
/// An offset that is not at a sector boundary, so the kernel refuses the discard.
const UNALIGNED: u64 = 1;

/// How a target is trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trim {
    /// The device discards the blocks.
    Discard,
    /// The file system frees the blocks.
    PunchHole,
    /// The device resets a zone.
    ResetZone,
}

impl Trim {
    /// Returns how to trim the file. Changes nothing.
    ///
    /// # Errors
    /// Returns the kernel's error, usually `EOPNOTSUPP`, if the target does not support trims.
    pub(crate) fn of(file: BorrowedFd<'_>) -> io::Result<Self> {
        let stat = rustix::fs::fstat(file)?;
        if FileType::from_raw_mode(stat.st_mode).is_block_device() {
            // The kernel examines the range only if the device supports discards.
            return match discard(file, UNALIGNED, 0) {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(Self::Discard),
                Err(error) => Err(error),
                Ok(()) => Ok(Self::Discard),
            };
        }
        // Beyond the end of the file, there is nothing to free.
        Self::PunchHole.perform(file, stat.st_size.unsigned_abs(), 1)?;
        Ok(Self::PunchHole)
    }

    /// Trims a range.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub(crate) fn perform(
        self,
        file: BorrowedFd<'_>,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> io::Result<()> {
        match self {
            Self::Discard => discard(file, offset_bytes, length_bytes),
            Self::PunchHole => {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                Ok(rustix::fs::fallocate(file, flags, offset_bytes, length_bytes)?)
            }
            Self::ResetZone => reset(file, offset_bytes, length_bytes),
        }
    }
}

fn discard(file: BorrowedFd<'_>, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
    let range = [offset_bytes, length_bytes];
    // SAFETY: BLKDISCARD reads two u64 (start and length in bytes) from the pointer, which is valid for them
    // during the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn holes_read_as_zeros_and_the_rest_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 64 << 10]).expect("a file");
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).expect("a file");
        let trim = Trim::of(file.as_fd()).expect("a file system with holes");
        assert_eq!(trim, Trim::PunchHole);
        assert!(
            std::fs::read(&path).expect("a file").iter().all(|byte| *byte == 7),
            "the probe has no effect"
        );
        trim.perform(file.as_fd(), 16 << 10, 8 << 10).expect("a hole");
        let content = std::fs::read(&path).expect("a file");
        assert_eq!(content.len(), 64 << 10);
        let hole = 16 << 10..24 << 10;
        assert!((0..64 << 10).all(|at| content[at] == if hole.contains(&at) { 0 } else { 7 }));
    }

    #[test]
    fn targets_without_trims_are_refused() {
        let proc = std::fs::File::open("/proc/self/status").expect("a file of procfs");
        assert!(Trim::of(proc.as_fd()).is_err());
    }
}
