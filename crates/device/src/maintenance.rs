//! Operations on an armed target other than loads: purges, write cache, LBA format, health, and the
//! maintenance of an array.

use admin::purge::{PurgeOptions, Purging};
use admin::{AdminError, LbaFormatError, Step, health, lba_format, write_cache};
use engine::Flow;
use record::{Health, PurgeEvidence, Purged};

use crate::armed::Armed;
use crate::array::let_go;
use crate::checks::{self, HostLook};
use crate::error::DriveError;
use crate::exclusive::Inner;
use crate::target::Real;

impl Armed {
    /// As [`Drive::host_look`](crate::Drive::host_look).
    #[must_use]
    pub fn host_look(&self) -> HostLook {
        match &self.inner {
            Inner::Simulated(_) => HostLook::default(),
            Inner::Real { real, .. } => checks::look(real),
        }
    }

    /// Purges the target: returns it to a state as close to new as possible.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unusable`] if no method is available; [`crate::ErrorKind::Device`] if the method failed.
    pub fn purge(&mut self) -> Result<Purged, DriveError> {
        self.purge_with(&PurgeOptions::default(), &mut |_| Flow::Continue)
    }

    /// Purges with a chosen method or with verification. Reports progress to `on_progress`, which may request a stop.
    /// After a stop, an operation that the drive or its controller executes on its own continues unobserved.
    ///
    /// # Errors
    /// Returns the errors of [`purge`](Self::purge); [`crate::ErrorKind::Stopped`] if `on_progress` requested
    /// a stop; [`crate::ErrorKind::Refused`] if the purge would erase more than was confirmed, or if the
    /// target is now in use; [`crate::ErrorKind::Invalid`] for an option that this target does not support.
    pub fn purge_with(
        &mut self,
        options: &PurgeOptions,
        on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
    ) -> Result<Purged, DriveError> {
        if let Some(array) = &mut self.array {
            return array.purge(&mut self.inner, options, on_progress);
        }
        self.inner.purge(options, on_progress)
    }

    /// Checks in advance whether a purge with these options would start. For an array, the options are checked
    /// only during the purge.
    ///
    /// # Errors
    /// Returns the errors of [`purge_with`](Self::purge_with), except for failures during the purge.
    pub fn check_purge(&self, options: &PurgeOptions) -> Result<(), DriveError> {
        if self.array.is_some() { Ok(()) } else { self.inner.check_purge(options) }
    }

    /// On a simulated drive, repeats a purge that the journal recorded. On a real drive, the effects of that purge
    /// persist, so nothing is done.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unusable`] if the drive does not support the recorded method.
    pub fn purge_again(&mut self, purged: &Purged) -> Result<Purged, DriveError> {
        match &mut self.inner {
            Inner::Simulated(sim) => sim.purge_again(purged),
            Inner::Real { .. } => Ok(purged.clone()),
        }
    }

    /// Waits until the members of a newly created array are in sync, reporting the operation and its completed
    /// fraction to `on_wait`. Returns how long this took, or `None` if the members were already in sync.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Device`] if the array lost a member.
    pub fn settle(
        &mut self,
        on_wait: &mut dyn FnMut(&str, f64) -> Flow,
    ) -> Result<Option<PurgeEvidence>, DriveError> {
        match (&mut self.array, &self.inner) {
            (Some(array), Inner::Real { clock, .. }) => array.settle(*clock, on_wait),
            _ => Ok(None),
        }
    }

    /// Dismantles an array, turning its members back into drives without array metadata. Does nothing for other
    /// targets.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Device`] if the array cannot be stopped; the next start tries again.
    pub fn dissolve(&mut self) -> Result<(), DriveError> {
        let Some(array) = &mut self.array else { return Ok(()) };
        let_go(&mut self.inner)?;
        array.dissolve()
    }

    /// Returns the health reported by the drive; unreported values are absent.
    #[must_use]
    pub fn health(&self) -> Health {
        // A RAID controller reports the health of a volume, not of a drive.
        if self.array.is_some() {
            return Health::default();
        }
        match &self.inner {
            Inner::Simulated(sim) => sim.health(),
            Inner::Real { real, held, clock, .. } => match &**real {
                Real::Block(block) => {
                    let can = block.capabilities(held, *clock);
                    health::read(&mut block.admin(held, *clock), &can)
                }
                Real::File(_) => Health::default(),
            },
        }
    }

    /// Returns whether the drive's volatile write cache is on; `None` if the drive has no cache that can be
    /// switched.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Device`] if the drive does not respond.
    pub fn write_cache(&self) -> Result<Option<bool>, DriveError> {
        if self.array.is_some() {
            return Ok(None);
        }
        let (real, held, clock) = match &self.inner {
            Inner::Simulated(sim) => return Ok(sim.write_cache()),
            Inner::Real { real, held, clock, .. } => (real, held, clock),
        };
        let Real::Block(block) = &**real else { return Ok(None) };
        let can = block.capabilities(held, *clock);
        write_cache::get(&mut block.admin(held, *clock), &can)
            .map_err(|fault| fault.during(Step::GetWriteCache).into())
    }

    /// Turns the drive's volatile write cache on or off and verifies the result; returns `false` if the drive
    /// has no cache that can be switched. A power cycle may revert the change.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Device`] if the drive does not apply the setting.
    pub fn set_write_cache(&mut self, on: bool) -> Result<bool, DriveError> {
        if self.array.is_some() {
            return Ok(false);
        }
        let (real, held, clock) = match &mut self.inner {
            Inner::Simulated(sim) => return Ok(sim.set_write_cache(on)),
            Inner::Real { real, held, clock, .. } => (real, held, clock),
        };
        let Real::Block(block) = &**real else { return Ok(false) };
        let can = block.capabilities(held, *clock);
        let set = write_cache::set(&mut block.admin(held, *clock), &can, on)?;
        if set {
            block.tell_kernel_of_write_cache(on);
        }
        Ok(set)
    }

    /// Returns the number of the LBA format of an NVMe namespace; `None` for other targets.
    #[must_use]
    pub fn lba_format(&self) -> Option<u8> {
        let Inner::Real { real, held, clock, .. } = &self.inner else { return None };
        let Real::Block(block) = &**real else { return None };
        lba_format::get(&block.capabilities(held, *clock))
    }

    /// Refuses an LBA format that the target does not support, without accessing the target.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] with the supported formats.
    pub fn check_lba_format(&self, format: u8) -> Result<(), DriveError> {
        let Inner::Real { real, held, clock, .. } = &self.inner else {
            return Err(not_nvme());
        };
        let Real::Block(block) = &**real else { return Err(not_nvme()) };
        lba_format::check(&block.capabilities(held, *clock), format)?;
        Ok(())
    }

    /// Formats an NVMe namespace with another LBA format, which erases it and changes its sector size.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] for an unsupported format, [`crate::ErrorKind::Refused`] if the target is
    /// now in use, and [`crate::ErrorKind::Device`] if formatting fails.
    pub fn set_lba_format(&mut self, format: u8) -> Result<(), DriveError> {
        let Inner::Real { real, held, clock, .. } = &mut self.inner else {
            return Err(not_nvme());
        };
        let Real::Block(block) = &mut **real else { return Err(not_nvme()) };
        let can = block.capabilities(held, *clock);
        lba_format::set(&mut block.admin(held, *clock), &can, format)?;
        block.reread(held)?;
        self.facts = block.facts.clone();
        Ok(())
    }
}

fn not_nvme() -> DriveError {
    AdminError::from(LbaFormatError::NotNvme).into()
}
