//! SCSI commands for queries and settings (SPC-4, section 6, and SBC-3, section 5).

use std::time::Duration;

use super::{ASKING, Admin, Data};
use crate::fault::Fault;
use crate::wire::scsi::{
    CAPACITY_BYTES, CachingPage, Capacity, Inquiry, PAGE_BYTES, Rotation, endurance_used, rotation, serial,
    supports, temperature, total_uncorrected, world_wide_name,
};
use crate::wire::sense::Sense;

const CHECK_CONDITION: u8 = 0x02;
const UNIT_ATTENTION: u8 = 6;
/// Maximum number of retries after unit attentions: a device reports each reset or change once instead of
/// executing a command.
const ATTENTIONS: u32 = 4;

/// Sends a command; any status but GOOD is a fault. Unit attentions are retried.
pub(crate) fn send(
    admin: &mut dyn Admin,
    command: &[u8],
    mut data: Data<'_>,
    timeout: Duration,
) -> Result<(), Fault> {
    let mut attentions = 0;
    loop {
        let again = match &mut data {
            Data::None => Data::None,
            Data::In(bytes) => Data::In(bytes),
            Data::Out(bytes) => Data::Out(bytes),
        };
        let answer = admin.scsi(command, again, timeout)?;
        let sense = Sense::decode(&answer.sense);
        if answer.status == 0 {
            return Ok(());
        }
        let attention = sense.is_some_and(|s| s.key == UNIT_ATTENTION);
        attentions += 1;
        if answer.status != CHECK_CONDITION || !attention || attentions > ATTENTIONS {
            return Err(Fault::Scsi(answer.status, sense));
        }
    }
}

/// Sends REQUEST SENSE, which reports the progress of a background command.
pub(crate) fn request_sense(admin: &mut dyn Admin) -> Option<Sense> {
    let answer = page(admin, &[0x03, 0, 0, 0, LENGTH, 0]);
    answer.ok().and_then(|bytes| Sense::decode(&bytes))
}

fn page(admin: &mut dyn Admin, command: &[u8]) -> Result<[u8; PAGE_BYTES], Fault> {
    let mut bytes = [0; PAGE_BYTES];
    send(admin, command, Data::In(&mut bytes), ASKING).map(|()| bytes)
}

const LENGTH: u8 = PAGE_BYTES as u8;

pub(crate) fn inquiry(admin: &mut dyn Admin) -> Result<Inquiry, Fault> {
    page(admin, &[0x12, 0, 0, 0, LENGTH, 0]).map(|bytes| Inquiry::decode(&bytes))
}

fn vital(admin: &mut dyn Admin, code: u8) -> Result<[u8; PAGE_BYTES], Fault> {
    page(admin, &[0x12, 1, code, 0, LENGTH, 0])
}

pub(crate) fn unit_serial(admin: &mut dyn Admin) -> Option<String> {
    vital(admin, 0x80).ok().and_then(|bytes| serial(&bytes))
}

pub(crate) fn unit_name(admin: &mut dyn Admin) -> Option<String> {
    vital(admin, 0x83).ok().and_then(|bytes| world_wide_name(&bytes))
}

pub(crate) fn medium_rotation(admin: &mut dyn Admin) -> Option<Rotation> {
    vital(admin, 0xb1).ok().and_then(|bytes| rotation(&bytes))
}

/// READ CAPACITY (16).
pub(crate) fn capacity(admin: &mut dyn Admin) -> Result<Capacity, Fault> {
    let mut bytes = [0; CAPACITY_BYTES];
    let command = [0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, CAPACITY_BYTES as u8, 0, 0];
    send(admin, &command, Data::In(&mut bytes), ASKING)?;
    Ok(Capacity::decode(&bytes))
}

/// Sends MODE SENSE (10) and returns the current values of the caching page; `None` if the device has no such
/// page.
pub(crate) fn caching(admin: &mut dyn Admin) -> Result<Option<CachingPage>, Fault> {
    let answer = page(admin, &[0x5a, 0, 0x08, 0, 0, 0, 0, 0, LENGTH, 0])?;
    Ok(CachingPage::decode(&answer))
}

/// Sends MODE SELECT (10) without saving, so that a power cycle reverts the change.
pub(crate) fn set_write_cache(admin: &mut dyn Admin, now: &CachingPage, on: bool) -> Result<(), Fault> {
    let list = now.selecting(on);
    let command = [0x55, 0x10, 0, 0, 0, 0, 0, 0, list.len() as u8, 0];
    send(admin, &command, Data::Out(&list), ASKING)
}

/// Sends REPORT SUPPORTED OPERATION CODES for one command or, if `action` is given, for one of its service
/// actions. `None` if the device does not report whether it supports the command.
pub(crate) fn supported(admin: &mut dyn Admin, opcode: u8, action: Option<u8>) -> Option<bool> {
    let options = if action.is_some() { 2 } else { 1 };
    let action = action.unwrap_or(0);
    let answer = page(admin, &[0xa3, 0x0c, options, opcode, 0, action, 0, 0, 0, LENGTH, 0, 0]);
    answer.ok().and_then(|bytes| supports(&bytes))
}

/// Sends LOG SENSE for the current values of a page.
fn log(admin: &mut dyn Admin, code: u8) -> Option<[u8; PAGE_BYTES]> {
    page(admin, &[0x4d, 0, 0x40 | code, 0, 0, 0, 0, 0, LENGTH, 0]).ok()
}

/// Returns the temperature in degrees Celsius from the Temperature page.
pub(crate) fn degrees(admin: &mut dyn Admin) -> Option<i16> {
    log(admin, 0x0d).and_then(|bytes| temperature(&bytes))
}

/// Returns the used endurance in percent from the Solid State Media page.
pub(crate) fn percentage_used(admin: &mut dyn Admin) -> Option<u8> {
    log(admin, 0x11).and_then(|bytes| endurance_used(&bytes))
}

/// Returns the number of uncorrected errors from the write and read error counters; `None` if the device has
/// neither counter.
pub(crate) fn uncorrected_errors(admin: &mut dyn Admin) -> Option<u64> {
    let counts = [0x02, 0x03].map(|code| log(admin, code).and_then(|bytes| total_uncorrected(&bytes, code)));
    counts.into_iter().flatten().reduce(u64::saturating_add)
}
