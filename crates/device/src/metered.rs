//! Facts about an armed target that a power meter needs.

use std::path::PathBuf;

use engine::Clock;

use crate::armed::Armed;
use crate::kernel::Kernel;
use sysfs::SysDevice;

/// Reads the maximum power in microwatts of a drive's current power state; `None` if the drive does not report it.
pub type PowerBound = Box<dyn FnMut() -> Option<u64> + Send>;

impl Armed {
    /// Returns the drive's sysfs directory, without symbolic links; `None` for files, arrays and simulated drives.
    #[must_use]
    pub fn sysfs_directory(&self) -> Option<PathBuf> {
        let (block, _, _) = self.inner.block().filter(|_| self.array.is_none())?;
        let sys = SysDevice::find(block.roots(), block.number()).ok()?;
        Some(sys.position().to_owned())
    }

    /// Returns a function that reads the power state of an NVMe drive; each call sends commands to the drive.
    #[must_use]
    pub fn power_bound(&self) -> Option<PowerBound> {
        let (block, held, _) = self.inner.block().filter(|_| self.array.is_none())?;
        if !block.is_nvme() {
            return None;
        }
        let fd = held.fd.try_clone().ok()?;
        // The command only queries the drive, so the target need not be checked again first.
        Some(Box::new(move || {
            let mut kernel = Kernel::new(&fd, 0, Clock::start(), Box::new(|_| Ok(())));
            admin::power_state::bound_microwatts(&mut kernel)
        }))
    }
}
