//! The machine of one process: the lock on its folder, its parts, and the programs in it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::initramfs;
use crate::kit::{Kit, given_kernel};
use crate::lab::Lab;
#[cfg(doc)]
use crate::missing::Missing;

/// A machine that no other process uses.
pub struct Session {
    /// The machine.
    pub lab: Lab,
    _lock: File,
}

impl Session {
    /// Prepares a machine in a folder, with programs: their paths on this host and in the guest. The machine boots the
    /// kernel in these packages, or Debian's.
    ///
    /// # Errors
    /// [`Missing`] if this host lacks a requirement; other errors if the machine cannot be prepared.
    pub fn prepare(
        folder: &Path,
        kernel: &[PathBuf],
        programs: &[(&Path, &str)],
        limit: Duration,
    ) -> anyhow::Result<Self> {
        let deadline = Instant::now() + limit;
        std::fs::create_dir_all(folder)?;
        let lock = alone_in(folder)?;
        let kernel = if kernel.is_empty() { None } else { Some(given_kernel(folder, kernel)?) };
        let kit = Kit::obtain(folder, kernel)?;
        let initramfs = initramfs::build(&kit, folder, programs)?;
        println!("# {}, Linux {}, {}", kit.qemu_version, kit.kernel_release, kit.accelerator.name());
        Ok(Self { lab: Lab::new(kit, folder, initramfs, deadline)?, _lock: lock })
    }
}

/// Locks the directory for this process: two machines must not share disks.
fn alone_in(folder: &Path) -> anyhow::Result<File> {
    let lock = File::create(folder.join("lock"))?;
    lock.try_lock().with_context(|| {
        format!("another vm-test uses {}; wait until it completes, or stop it", folder.display())
    })?;
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_user() {
        let folder = std::env::temp_dir().join(format!("plateau-vm-test-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let first = alone_in(&folder).unwrap();
        assert!(alone_in(&folder).unwrap_err().to_string().contains("another vm-test"));
        drop(first);
        // A program that another test starts holds the lock from its fork to its exec.
        let deadline = Instant::now() + Duration::from_secs(60);
        while let Err(error) = alone_in(&folder) {
            assert!(Instant::now() < deadline, "{error:#}");
            std::thread::yield_now();
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
