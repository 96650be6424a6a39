//! NVMe admin commands for queries and settings (NVM Express Base Specification 2.0c, section 5).

use std::time::Duration;

use super::{Admin, Data, NvmeCommand};
use crate::fault::Fault;
use crate::wire::nvme::{Controller, IDENTIFY_BYTES, LOG_BYTES, Namespace, SanitizeLog, SmartLog};

const GET_LOG_PAGE: u8 = 0x02;
const IDENTIFY: u8 = 0x06;
const SET_FEATURES: u8 = 0x09;
const GET_FEATURES: u8 = 0x0a;
/// Namespace ID for controller-wide logs.
const ALL_NAMESPACES: u32 = 0xffff_ffff;
const VOLATILE_WRITE_CACHE: u32 = 0x06;
const POWER_MANAGEMENT: u32 = 0x02;

fn identify(admin: &mut dyn Admin, namespace: u32, structure: u32) -> Result<[u8; IDENTIFY_BYTES], Fault> {
    let mut bytes = [0; IDENTIFY_BYTES];
    admin.nvme(&NvmeCommand::of(IDENTIFY, namespace, structure, 0), Data::In(&mut bytes))?;
    Ok(bytes)
}

/// Identify with CNS 01h.
pub(crate) fn controller(admin: &mut dyn Admin) -> Result<Controller, Fault> {
    identify(admin, 0, 0x01).map(|bytes| Controller::decode(&bytes))
}

/// Identify with CNS 00h.
pub(crate) fn namespace(admin: &mut dyn Admin, namespace: u32) -> Result<Namespace, Fault> {
    identify(admin, namespace, 0x00).map(|bytes| Namespace::decode(&bytes))
}

/// Returns the completed fraction of a running format, from Identify; `None` if no format is running or the
/// drive does not respond.
pub(crate) fn format_progress(admin: &mut dyn Admin, namespace: u32, timeout: Duration) -> Option<f64> {
    let mut bytes = [0; IDENTIFY_BYTES];
    let command = NvmeCommand { timeout, ..NvmeCommand::of(IDENTIFY, namespace, 0x00, 0) };
    admin.nvme(&command, Data::In(&mut bytes)).ok()?;
    Namespace::decode(&bytes)
        .format_remaining
        .filter(|&remaining| remaining > 0.0)
        .map(|remaining| 1.0 - remaining)
}

fn log(admin: &mut dyn Admin, page: u32) -> Result<[u8; LOG_BYTES], Fault> {
    // NUMDL is zero-based.
    let dwords = LOG_BYTES as u32 / 4 - 1;
    let mut bytes = [0; LOG_BYTES];
    let command = NvmeCommand::of(GET_LOG_PAGE, ALL_NAMESPACES, dwords << 16 | page, 0);
    admin.nvme(&command, Data::In(&mut bytes))?;
    Ok(bytes)
}

pub(crate) fn smart_log(admin: &mut dyn Admin) -> Result<SmartLog, Fault> {
    log(admin, 0x02).map(|bytes| SmartLog::decode(&bytes))
}

pub(crate) fn sanitize_log(admin: &mut dyn Admin) -> Result<SanitizeLog, Fault> {
    log(admin, 0x81).map(|bytes| SanitizeLog::decode(&bytes))
}

/// Returns the number of bytes that the controller wrote to its flash, if reported.
pub(crate) fn media_written_bytes(admin: &mut dyn Admin) -> Option<u128> {
    log(admin, 0xc0).ok().and_then(|bytes| crate::wire::nvme::ocp_media_written_bytes(&bytes))
}

/// Returns whether the volatile write cache is on (feature 06h).
pub(crate) fn write_cache(admin: &mut dyn Admin) -> Result<bool, Fault> {
    let command = NvmeCommand::of(GET_FEATURES, 0, VOLATILE_WRITE_CACHE, 0);
    admin.nvme(&command, Data::None).map(|answer| answer & 1 != 0)
}

pub(crate) fn set_write_cache(admin: &mut dyn Admin, on: bool) -> Result<(), Fault> {
    let command = NvmeCommand::of(SET_FEATURES, 0, VOLATILE_WRITE_CACHE, u32::from(on));
    admin.nvme(&command, Data::None).map(drop)
}

/// Returns the number of the current power state (feature 02h).
pub(crate) fn power_state(admin: &mut dyn Admin) -> Result<u8, Fault> {
    let command = NvmeCommand::of(GET_FEATURES, 0, POWER_MANAGEMENT, 0);
    admin.nvme(&command, Data::None).map(|answer| answer as u8 & 0x1f)
}
