//! The ioctls of block devices: raw numbers in, typed answers out. Nothing else in the crate calls `ioctl`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

const BLK: u32 = 0x12;

/// Capacity in bytes (`BLKGETSIZE64`).
pub(crate) fn capacity_bytes(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes = 0u64;
    // SAFETY: BLKGETSIZE64 writes one u64 (its size_t argument type is a historical mistake in the number
    // only) to the pointer, which is valid for it during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::_IOR::<usize>(BLK, 114), &raw mut bytes) })?;
    Ok(bytes)
}

/// Logical and physical block size in bytes (`BLKSSZGET`, `BLKPBSZGET`).
pub(crate) fn block_bytes(fd: BorrowedFd<'_>) -> io::Result<(u32, u32)> {
    Ok((rustix::fs::ioctl_blksszget(fd)?, rustix::fs::ioctl_blkpbszget(fd)?))
}

/// Whether the kernel takes no writes (`BLKROGET`).
pub(crate) fn is_read_only(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let mut read_only: libc::c_int = 0;
    // SAFETY: BLKROGET writes one int to the pointer, which is valid for it during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::_IO(BLK, 94), &raw mut read_only) })?;
    Ok(read_only != 0)
}

/// Tells the device that `length_bytes` from byte 0 hold nothing any more (`BLKDISCARD`).
pub(crate) fn discard(fd: BorrowedFd<'_>, length_bytes: u64) -> io::Result<()> {
    let range = [0u64, length_bytes];
    // SAFETY: BLKDISCARD reads two u64 (start and length in bytes) from the pointer, which is valid for
    // them during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::_IO(BLK, 119), range.as_ptr()) })
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
