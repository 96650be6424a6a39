//! Flushes the kernel's cached data of a file or block device to the drive.

use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Flushes a file or block device. Does not wait for the other end of a pipe that may have replaced it.
///
/// # Errors
/// Returns the kernel's error.
pub fn flush(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    Ok(rustix::fs::fsync(file)?)
}
