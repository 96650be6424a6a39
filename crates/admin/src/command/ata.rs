//! ATA commands, sent through a SCSI device that translates them (ACS-3, section 7).

use std::time::Duration;

use super::{ASKING, Admin, Data};
use crate::fault::Fault;
use crate::wire::ata::{
    BLOCK_BYTES, Command, Direction, GeneralStatistics, Identify, Registers, percentage_used,
    reallocated_sectors, temperature, uncorrectable_errors,
};

const IDENTIFY_DEVICE: u8 = 0xec;
const READ_LOG_EXT: u8 = 0x2f;
const SET_FEATURES: u8 = 0xef;
const DEVICE_STATISTICS: u64 = 0x04;

/// Sends a command and returns the resulting registers.
pub(crate) fn send(
    admin: &mut dyn Admin,
    command: &Command,
    data: Data<'_>,
    timeout: Duration,
) -> Result<Registers, Fault> {
    let answer = admin.scsi(&command.cdb(), data, timeout)?;
    let Some(registers) = Registers::decode(&answer.sense) else {
        return Err(match crate::wire::sense::Sense::decode(&answer.sense) {
            Some(sense) if sense.key > 1 => Fault::Scsi(answer.status, Some(sense)),
            _ => Fault::NoRegisters,
        });
    };
    if registers.is_error() { Err(Fault::Ata(registers)) } else { Ok(registers) }
}

fn block(admin: &mut dyn Admin, command: Command) -> Result<[u8; BLOCK_BYTES], Fault> {
    let mut bytes = [0; BLOCK_BYTES];
    let command = Command { count: 1, data: Direction::In, ..command };
    send(admin, &command, Data::In(&mut bytes), ASKING)?;
    Ok(bytes)
}

pub(crate) fn identify(admin: &mut dyn Admin) -> Result<Identify, Fault> {
    let bytes = block(admin, Command { command: IDENTIFY_DEVICE, ..Command::default() })?;
    Ok(Identify::decode(&bytes))
}

/// Returns a page of the Device Statistics log.
fn statistics(admin: &mut dyn Admin, page: u64) -> Result<[u8; BLOCK_BYTES], Fault> {
    let lba = DEVICE_STATISTICS | page << 8;
    block(admin, Command { command: READ_LOG_EXT, lba, extended: true, ..Command::default() })
}

/// Device statistics; each value is `None` if it is not reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DeviceStatistics {
    pub(crate) general: GeneralStatistics,
    pub(crate) reallocated_sectors: Option<u64>,
    pub(crate) uncorrectable_errors: Option<u64>,
    /// In degrees Celsius.
    pub(crate) temperature: Option<i16>,
    pub(crate) percentage_used: Option<u8>,
}

pub(crate) fn health(admin: &mut dyn Admin) -> DeviceStatistics {
    let general = statistics(admin, 1).map(|bytes| GeneralStatistics::decode(&bytes)).unwrap_or_default();
    let mut page = |number| statistics(admin, number).ok();
    DeviceStatistics {
        general,
        reallocated_sectors: page(3).and_then(|bytes| reallocated_sectors(&bytes)),
        uncorrectable_errors: page(4).and_then(|bytes| uncorrectable_errors(&bytes)),
        temperature: page(5).and_then(|bytes| temperature(&bytes)),
        percentage_used: page(7).and_then(|bytes| percentage_used(&bytes)),
    }
}

/// SET FEATURES, subcommands 02h and 82h.
pub(crate) fn set_write_cache(admin: &mut dyn Admin, on: bool) -> Result<(), Fault> {
    let features = if on { 0x02 } else { 0x82 };
    let command = Command { command: SET_FEATURES, features, ..Command::default() };
    send(admin, &command, Data::None, ASKING).map(drop)
}
