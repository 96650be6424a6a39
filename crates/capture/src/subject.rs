//! The device to capture, identified by its number.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use crate::error::CaptureError;

/// How a device receives its I/Os, which determines the events to trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As requests, like real drives: an I/O begins when it is passed to the driver.
    Requests,
    /// Directly, like zram, device mapper and md: an I/O begins when it is submitted.
    Bios,
}

/// A block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Kernel name.
    pub name: String,
    /// Device number in the events.
    pub number: u64,
    /// How the device receives its I/Os.
    pub kind: Kind,
}

impl Subject {
    /// Finds the device at a path without opening it.
    ///
    /// # Errors
    /// Returns an error if the path is not a whole block device.
    pub fn at(path: &Path) -> Result<Self, CaptureError> {
        let found = std::fs::metadata(path).map_err(CaptureError::Inspect)?;
        if !found.file_type().is_block_device() {
            return Err(CaptureError::NotABlockDevice);
        }
        let (major, minor) = (rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev()));
        let folder = std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"));
        let folder = folder.map_err(CaptureError::Inspect)?;
        let name = |folder: &Path| {
            folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().replace('!', "/"))
        };
        if folder.join("partition").exists() {
            let disk = folder.parent().map(name).unwrap_or_default();
            return Err(CaptureError::Partition { disk: format!("/dev/{disk}") });
        }
        let kind = if folder.join("mq").is_dir() { Kind::Requests } else { Kind::Bios };
        // The kernel's own encoding of device numbers.
        let number = u64::from(major) << 20 | u64::from(minor);
        Ok(Self { name: name(&folder), number, kind })
    }
}
