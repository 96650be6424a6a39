//! Common parts of the ATA methods: the security feature set and SANITIZE DEVICE (ACS-3, sections 4.20, 4.18 and 7.36
//! to 7.43).

use std::time::Duration;

use super::method::{Job, Offer, Polled};
use crate::capability::{Capabilities, Protocol};
use crate::command::{ASKING, Admin, Data, Fault, ata};
use crate::error::AdminError;
use crate::wire::ata::{BLOCK_BYTES, Command, Direction, Identify, Registers, SanitizeStatus, Security};

const SECURITY_SET_PASSWORD: u8 = 0xf1;
const SECURITY_UNLOCK: u8 = 0xf2;
const SECURITY_ERASE_PREPARE: u8 = 0xf3;
const SECURITY_ERASE_UNIT: u8 = 0xf4;
const SECURITY_DISABLE_PASSWORD: u8 = 0xf6;
const SANITIZE: u8 = 0xb4;
/// The user password while an erase runs. It is not a secret: anyone with a drive that stays locked must be
/// able to unlock it.
const PASSWORD: &[u8; 7] = b"PLATEAU";
/// Minimum timeout: the drive's own estimate may be far too low, and 255 means "more than 508 minutes".
const ERASING_AT_LEAST: Duration = Duration::from_secs(12 * 3600);

const RESCUE: &str = "if the drive stays locked, unlock it with `hdparm --user-master u --security-disable PLATEAU \
                      DEVICE`, or run plateau purge again with --method ata-security-erase";

pub(super) fn offer(can: &Capabilities, has: fn(&Identify) -> bool) -> Offer {
    match &can.protocol {
        Protocol::Ata(drive) if drive.security.locked => Offer::No(locked()),
        Protocol::Ata(drive) => Offer::reported(has(drive)),
        Protocol::Unasked(why) => Offer::No(why.clone()),
        _ => Offer::OtherInterface,
    }
}

pub(super) fn offer_security_erase(can: &Capabilities, enhanced: bool) -> Offer {
    match &can.protocol {
        Protocol::Ata(drive) => security_offer(&drive.security, enhanced),
        Protocol::Unasked(why) => Offer::No(why.clone()),
        _ => Offer::OtherInterface,
    }
}

fn locked() -> String {
    format!("the drive is locked with a password; {RESCUE}")
}

fn security_offer(security: &Security, enhanced: bool) -> Offer {
    if !security.supported || enhanced && !security.enhanced {
        return Offer::NotReported;
    }
    if security.frozen {
        return Offer::No(
            "this computer's firmware has frozen the drive's security settings; suspend and resume the \
             computer, or hot-plug the drive, then try again"
                .into(),
        );
    }
    if security.count_expired {
        return Offer::No(
            "the drive has received too many wrong passwords; power-cycle it, then try again".into(),
        );
    }
    if security.enabled {
        return Offer::Unsure(
            "a password is set on the drive; this works only if an interrupted Plateau purge set it".into(),
        );
    }
    Offer::Yes
}

/// The data block of a security command: control word, then the password (ACS-3, tables 137 to 143).
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

/// Removes the password left by an interrupted purge; destroys nothing.
///
/// # Errors
/// If the drive has another password.
pub fn unlock(admin: &mut dyn Admin) -> Result<(), Fault> {
    for command in [SECURITY_UNLOCK, SECURITY_DISABLE_PASSWORD] {
        let command = Command { command, count: 1, data: Direction::Out, ..Command::default() };
        ata::send(admin, &command, Data::Out(&credentials(0)), ASKING)?;
    }
    Ok(())
}

fn security_now(job: &mut Job<'_>) -> Result<Security, AdminError> {
    let identify = ata::identify(job.admin).map_err(|fault| fault.during("IDENTIFY DEVICE", RESCUE))?;
    Ok(identify.security)
}

/// Sets a password if there is none, erases, and verifies that the erase removed the password.
pub(super) fn security_erase(job: &mut Job<'_>, enhanced: bool) -> Result<Vec<String>, AdminError> {
    let Protocol::Ata(drive) = &job.can.protocol else { unreachable!("offered to ATA drives only") };
    let estimate = if enhanced { drive.security.enhanced_erase_time } else { drive.security.erase_time };
    // Another program may have changed the security state since the inspection.
    let now = security_now(job)?;
    if let Offer::No(why) = security_offer(&now, enhanced) {
        return Err(AdminError::device(format!("SECURITY ERASE UNIT cannot start: {why}")));
    }
    job.step("setting the password PLATEAU, which the erase removes again");
    job.recheck()?;
    if now.locked {
        secure(job, SECURITY_UNLOCK, 0, ASKING).map_err(|fault| {
            fault.during(
                "SECURITY UNLOCK",
                "the password was not set by Plateau; remove it with the program that set it",
            )
        })?;
    } else if !now.enabled {
        secure(job, SECURITY_SET_PASSWORD, 0, ASKING)
            .map_err(|fault| fault.during("SECURITY SET PASSWORD", RESCUE))?;
        if !security_now(job)?.enabled {
            return Err(AdminError::device(
                "the drive or its adapter accepted a password without setting it, so an erase would do \
                 nothing; choose another method with --method",
            ));
        }
    }
    job.step("erasing; do not cut the power, or the drive stays locked with the password PLATEAU");
    job.expects(estimate);
    job.recheck()?;
    let prepare = Command { command: SECURITY_ERASE_PREPARE, ..Command::default() };
    let prepared = ata::send(job.admin, &prepare, Data::None, ASKING);
    let erased = prepared.and_then(|_| {
        let timeout = (2 * estimate.unwrap_or_default()).max(ERASING_AT_LEAST);
        secure(job, SECURITY_ERASE_UNIT, u16::from(enhanced) << 1, timeout)
    });
    erased.map_err(|fault| fault.during("SECURITY ERASE UNIT", RESCUE))?;
    if security_now(job)?.enabled {
        return Err(AdminError::device(format!(
            "the drive reports success, but its password is still set, so nothing was erased; {RESCUE}"
        )));
    }
    Ok(vec!["the drive removed the password, which it does only after an erase".into()])
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
    /// Feature, LBA and count of the command (ACS-3, tables 74 to 82).
    fn registers(self) -> (u16, u64, u16) {
        match self {
            Self::Crypto => (0x11, 0x4372_7970, 0),
            Self::Block => (0x12, 0x426b_4572, 0),
            Self::Overwrite => (0x14, 0x4f57_0000_0000, 1),
        }
    }
}

/// Sanitizes and waits until it completes.
pub(super) fn sanitize(job: &mut Job<'_>, action: Action) -> Result<Vec<String>, AdminError> {
    let before = status(job.admin)?;
    if before.frozen {
        return Err(AdminError::device(
            "this computer's firmware has frozen SANITIZE; suspend and resume the computer, or hot-plug the \
             drive, then try again",
        ));
    }
    if before.running {
        return Err(AdminError::device(
            "a sanitize started by another program is running on this drive; wait until it completes",
        ));
    }
    job.recheck()?;
    let (features, lba, count) = action.registers();
    let command = Command { command: SANITIZE, features, count, lba, extended: true, data: Direction::None };
    ata::send(job.admin, &command, Data::None, ASKING)
        .map_err(|fault| fault.during("SANITIZE DEVICE", "choose another method with --method"))?;
    job.poll("SANITIZE DEVICE", |admin| {
        let status = status(admin)?;
        match (status.running, status.done) {
            (true, _) => Ok(Polled::Running(Some(status.share_done))),
            (false, true) => Ok(Polled::Done),
            (false, false) => Err(AdminError::device(
                "SANITIZE failed, and the drive accepts only another SANITIZE now: run plateau purge again, \
                 and replace the drive if it fails again",
            )),
        }
    })?;
    Ok(vec![format!("SANITIZE STATUS EXT: completed without error after feature {features:04x}h")])
}

fn status(admin: &mut dyn Admin) -> Result<SanitizeStatus, AdminError> {
    let command = Command { command: SANITIZE, extended: true, ..Command::default() };
    let answered: Result<Registers, Fault> = ata::send(admin, &command, Data::None, ASKING);
    answered.map(|registers| SanitizeStatus::of(&registers)).map_err(|fault| {
        fault.during(
            "SANITIZE STATUS EXT",
            "the sanitize failed or the drive was removed; run plateau purge again",
        )
    })
}
