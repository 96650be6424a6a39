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
    /// [`crate::ErrorKind::Unusable`] when no method is available; [`crate::ErrorKind::Device`] when the method failed.
    pub fn purge(&mut self) -> Result<Purged, DriveError> {
        self.purge_with(&PurgeOptions::default(), &mut |_| Flow::Continue)
    }

    /// Purges with a chosen method or with verification. Reports progress to `on_progress`, which may request a stop:
    /// an operation that the drive or its controller executes on its own continues, but is no longer waited for.
    ///
    /// # Errors
    /// As [`purge`](Self::purge); [`crate::ErrorKind::Stopped`] when stopped by `on_progress`;
    /// [`crate::ErrorKind::Refused`] when it would erase more than was confirmed or the target is now in use;
    /// [`crate::ErrorKind::Invalid`] for an option that this target does not support.
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

    /// Checks in advance whether a purge with these options would start; those of an array are checked by its purge.
    ///
    /// # Errors
    /// As [`purge_with`](Self::purge_with), except for failures during the purge.
    pub fn check_purge(&self, options: &PurgeOptions) -> Result<(), DriveError> {
        if self.array.is_some() { Ok(()) } else { self.inner.check_purge(options) }
    }

    /// On a simulated drive, repeats a purge that the journal recorded. On a real drive, the effects of that purge
    /// persist, so nothing is done.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unusable`] when the drive does not have the recorded method.
    pub fn purge_again(&mut self, purged: &Purged) -> Result<Purged, DriveError> {
        match &mut self.inner {
            Inner::Simulated(sim) => sim.purge_again(purged),
            Inner::Real { .. } => Ok(purged.clone()),
        }
    }

    /// Waits until the members of a newly created array are in sync, and reports the operation and its share
    /// completed to `on_wait`. Returns how long that took, or `None` if they were in sync already.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Device`] when the array lost a member.
    pub fn settle(
        &mut self,
        on_wait: &mut dyn FnMut(&str, f64) -> Flow,
    ) -> Result<Option<PurgeEvidence>, DriveError> {
        match (&mut self.array, &self.inner) {
            (Some(array), Inner::Real { clock, .. }) => array.settle(*clock, on_wait),
            _ => Ok(None),
        }
    }

    /// Dismantles an array, so that its members are drives without array metadata again. Does nothing for other
    /// targets.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Device`] when it cannot be stopped; the next start retries.
    pub fn dissolve(&mut self) -> Result<(), DriveError> {
        let Some(array) = &mut self.array else { return Ok(()) };
        let_go(&mut self.inner)?;
        array.dissolve()
    }

    /// Returns the health reported by the drive; unreported values are absent.
    #[must_use]
    pub fn health(&self) -> Health {
        // A RAID controller reports a volume's health, not a drive's.
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

    /// Whether the drive's volatile write cache is on; `None` if it has none that can be set.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Device`] when the drive does not respond.
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

    /// Turns the drive's volatile write cache on or off and verifies it; `false` if it has none that can be
    /// set. A power cycle may undo it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Device`] when the drive does not apply the setting.
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

    /// Refuses an LBA format that the target does not support, without touching it.
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

    /// Formats an NVMe namespace to another LBA format, which erases it and changes its sector size.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] for an unsupported format, [`crate::ErrorKind::Refused`] when the target
    /// is now in use, [`crate::ErrorKind::Device`] when formatting fails.
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
