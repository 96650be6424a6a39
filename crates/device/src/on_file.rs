//! Facts about an armed target that is a file: its file system, and how the file is stored.

use std::os::fd::{AsFd, BorrowedFd};

use record::OnFile;
use sysfs::{Found, Roots};

use crate::armed::Armed;
use crate::exclusive::Inner;
use crate::ioctl;
use crate::target::Real;

impl Armed {
    /// Finds the file system of the target; `None` if the target is not a file, or the mount table does not show it.
    #[must_use]
    pub fn file_system(&self) -> Option<Found> {
        sysfs::look(self.file()?, &Roots::default())
    }

    /// Returns how much space the file occupies and in how many extents; `None` if the target is not a file.
    #[must_use]
    pub fn on_file(&self) -> Option<OnFile> {
        /// Unit of `st_blocks`, on all file systems.
        const BLOCK_BYTES: u64 = 512;
        let file = self.file()?;
        let stat = rustix::fs::fstat(file).ok()?;
        let allocated_bytes = u64::try_from(stat.st_blocks).ok()?.saturating_mul(BLOCK_BYTES);
        Some(OnFile { allocated_bytes, extents: ioctl::extents(file).ok(), below: None })
    }

    fn file(&self) -> Option<BorrowedFd<'_>> {
        match &self.inner {
            Inner::Real { real, held, .. } if matches!(**real, Real::File(_)) => Some(held.fd.as_fd()),
            Inner::Real { .. } | Inner::Simulated(_) => None,
        }
    }
}
