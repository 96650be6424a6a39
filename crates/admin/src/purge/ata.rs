//! Code shared by the ATA methods: the security feature set and SANITIZE DEVICE (ACS-3, sections 4.20, 4.18 and 7.36
//! to 7.43).

use std::time::Duration;

use record::{PurgeEvidence, WhyNot};

use super::method::{Job, Offer, Polled};
use crate::capability::{Capabilities, Protocol};
use crate::command::{ASKING, Admin, Data, ata};
use crate::error::{AdminError, DriveFault, Step};
use crate::fault::Fault;
use crate::wire::ata::{BLOCK_BYTES, Command, Direction, Identify, Registers, SanitizeStatus, Security};

const SECURITY_SET_PASSWORD: u8 = 0xf1;
const SECURITY_UNLOCK: u8 = 0xf2;
const SECURITY_ERASE_PREPARE: u8 = 0xf3;
const SECURITY_ERASE_UNIT: u8 = 0xf4;
const SECURITY_DISABLE_PASSWORD: u8 = 0xf6;
const SANITIZE: u8 = 0xb4;
/// The user password set during an erase. It is public, so that anyone can unlock a drive that remains locked
/// after an interruption.
const PASSWORD: &[u8; 7] = b"PLATEAU";
/// Minimum timeout: the drive's own estimate may be far too low, and 255 means "more than 508 minutes".
const ERASING_AT_LEAST: Duration = Duration::from_secs(12 * 3600);

pub(super) fn offer(can: &Capabilities, has: fn(&Identify) -> bool) -> Offer {
    match &can.protocol {
        Protocol::Ata(drive) if drive.security.locked => Offer::No(WhyNot::Locked),
        Protocol::Ata(drive) => Offer::reported(has(drive)),
        Protocol::Unasked(why) => Offer::No(WhyNot::Unqueried(why.clone())),
        _ => Offer::OtherInterface,
    }
}

pub(super) fn offer_security_erase(can: &Capabilities, enhanced: bool) -> Offer {
    match &can.protocol {
        Protocol::Ata(drive) => security_offer(&drive.security, enhanced),
        Protocol::Unasked(why) => Offer::No(WhyNot::Unqueried(why.clone())),
        _ => Offer::OtherInterface,
    }
}

fn security_offer(security: &Security, enhanced: bool) -> Offer {
    if !security.supported || enhanced && !security.enhanced {
        return Offer::NotReported;
    }
    if security.frozen {
        return Offer::No(WhyNot::Frozen);
    }
    if security.count_expired {
        return Offer::No(WhyNot::TooManyPasswords);
    }
    if security.enabled {
        return Offer::Unsure(WhyNot::PasswordSet);
    }
    Offer::Yes
}

/// Returns the data block of a security command: control word, then the password (ACS-3, tables 137 to 143).
fn credentials(control: u16) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[..2].copy_from_slice(&control.to_le_bytes());
    block[2..2 + PASSWORD.len()].copy_from_slice(PASSWORD);
    block
}

fn secure(job: &mut Job<'_>, command: u8, control: u16, timeout: Duration) -> Result<(), Fault> {
    let command = Command { command, count: 1, data: Direction::Out, ..Command::default() };
    ata::send(job.admin, &command, Data::Out(&credentials(control)), timeout).map(drop)
}

/// Removes the password left by an interrupted purge. The data remains intact.
///
/// # Errors
/// Returns an error if the drive has a different password.
pub fn unlock(admin: &mut dyn Admin) -> Result<(), Fault> {
    for command in [SECURITY_UNLOCK, SECURITY_DISABLE_PASSWORD] {
        let command = Command { command, count: 1, data: Direction::Out, ..Command::default() };
        ata::send(admin, &command, Data::Out(&credentials(0)), ASKING)?;
    }
    Ok(())
}

fn security_now(job: &mut Job<'_>) -> Result<Security, AdminError> {
    let identify = ata::identify(job.admin).map_err(|fault| fault.during(Step::AtaIdentify))?;
    Ok(identify.security)
}

/// Sets a password if none is set, erases the drive, and verifies that the erase removed the password.
pub(super) fn security_erase(job: &mut Job<'_>, enhanced: bool) -> Result<Vec<PurgeEvidence>, AdminError> {
    let Protocol::Ata(drive) = &job.can.protocol else { unreachable!("offered to ATA drives only") };
    let estimate = if enhanced { drive.security.enhanced_erase_time } else { drive.security.erase_time };
    // Another program may have changed the security state since the inspection.
    let now = security_now(job)?;
    if let Offer::No(why) = security_offer(&now, enhanced) {
        return Err(DriveFault::CannotErase(why).into());
    }
    job.step("setting the password PLATEAU, which the erase then removes");
    job.recheck()?;
    if now.locked {
        secure(job, SECURITY_UNLOCK, 0, ASKING).map_err(|fault| fault.during(Step::SecurityUnlock))?;
    } else if !now.enabled {
        secure(job, SECURITY_SET_PASSWORD, 0, ASKING)
            .map_err(|fault| fault.during(Step::SecuritySetPassword))?;
        if !security_now(job)?.enabled {
            return Err(DriveFault::PasswordNotSet.into());
        }
    }
    job.step("erasing; do not cut the power, or the drive will stay locked with the password PLATEAU");
    job.expects(estimate);
    job.recheck()?;
    let prepare = Command { command: SECURITY_ERASE_PREPARE, ..Command::default() };
    let prepared = ata::send(job.admin, &prepare, Data::None, ASKING);
    let erased = prepared.and_then(|_| {
        let timeout = (2 * estimate.unwrap_or_default()).max(ERASING_AT_LEAST);
        secure(job, SECURITY_ERASE_UNIT, u16::from(enhanced) << 1, timeout)
    });
    erased.map_err(|fault| fault.during(Step::SecurityErase))?;
    if security_now(job)?.enabled {
        return Err(DriveFault::PasswordLeft.into());
    }
    Ok(vec![PurgeEvidence::PasswordRemoved])
}

/// An action of SANITIZE DEVICE.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    Block,
    Crypto,
    /// One pass of zeroes.
    Overwrite,
}

impl Action {
    /// Returns the feature, LBA and count of the command (ACS-3, tables 74 to 82).
    fn registers(self) -> (u16, u64, u16) {
        match self {
            Self::Crypto => (0x11, 0x4372_7970, 0),
            Self::Block => (0x12, 0x426b_4572, 0),
            Self::Overwrite => (0x14, 0x4f57_0000_0000, 1),
        }
    }
}

/// Sanitizes the drive and waits until the operation completes.
pub(super) fn sanitize(job: &mut Job<'_>, action: Action) -> Result<Vec<PurgeEvidence>, AdminError> {
    let before = status(job.admin)?;
    if before.frozen {
        return Err(DriveFault::SanitizeFrozen.into());
    }
    if before.running {
        return Err(DriveFault::SanitizeRunning.into());
    }
    job.recheck()?;
    let (features, lba, count) = action.registers();
    let command = Command { command: SANITIZE, features, count, lba, extended: true, data: Direction::None };
    ata::send(job.admin, &command, Data::None, ASKING).map_err(|fault| fault.during(Step::AtaSanitize))?;
    job.poll(Step::AtaSanitize, |admin| {
        let status = status(admin)?;
        match (status.running, status.done) {
            (true, _) => Ok(Polled::Running(Some(status.share_done))),
            (false, true) => Ok(Polled::Done),
            (false, false) => Err(DriveFault::AtaSanitizeFailed.into()),
        }
    })?;
    Ok(vec![PurgeEvidence::SanitizeStatus { feature: features }])
}

fn status(admin: &mut dyn Admin) -> Result<SanitizeStatus, AdminError> {
    let command = Command { command: SANITIZE, extended: true, ..Command::default() };
    let answered: Result<Registers, Fault> = ata::send(admin, &command, Data::None, ASKING);
    answered
        .map(|registers| SanitizeStatus::of(&registers))
        .map_err(|fault| fault.during(Step::AtaSanitizeStatus))
}
