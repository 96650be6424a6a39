//! Device commands other than the reads and writes of a test.
//!
//! [`Admin`] is implemented by real devices and, in tests, by a script of expected commands and mock responses.

pub(crate) mod ata;
pub(crate) mod nvme;
#[cfg(test)]
pub(crate) mod script;
pub(crate) mod scsi;

use std::io;
use std::time::Duration;

use record::errno::{cause, reason};

use crate::error::AdminError;
use crate::wire::ata::Registers;
use crate::wire::nvme::status_text;
use crate::wire::sense::Sense;

/// Timeout of commands that only query.
pub(crate) const ASKING: Duration = Duration::from_secs(30);

/// Data buffer of a command.
#[derive(Debug)]
pub enum Data<'a> {
    /// No data.
    None,
    /// From the device.
    In(&'a mut [u8]),
    /// To the device.
    Out(&'a [u8]),
}

/// An NVMe admin command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NvmeCommand {
    /// Opcode.
    pub opcode: u8,
    /// Namespace identifier; 0 for the controller.
    pub namespace: u32,
    /// Command dwords 10 to 15.
    pub cdw10_to_15: [u32; 6],
    /// Timeout of the command.
    pub timeout: Duration,
}

impl NvmeCommand {
    /// Returns a command with the timeout of those that only query.
    #[must_use]
    pub fn of(opcode: u8, namespace: u32, cdw10: u32, cdw11: u32) -> Self {
        Self { opcode, namespace, cdw10_to_15: [cdw10, cdw11, 0, 0, 0, 0], timeout: ASKING }
    }
}

/// Response of a SCSI device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScsiAnswer {
    /// Status.
    pub status: u8,
    /// Sense data.
    pub sense: Vec<u8>,
}

/// Why a command failed.
#[derive(Debug)]
pub enum Fault {
    /// The kernel did not deliver the command or its response.
    Kernel(io::Error),
    /// Status of an NVMe command.
    Nvme(u16),
    /// Status of a SCSI command other than GOOD, with its sense data.
    Scsi(u8, Option<Sense>),
    /// Registers of an ATA command that failed.
    Ata(Registers),
    /// An ATA command returned no registers, so it is unknown whether it completed.
    NoRegisters,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kernel(error) => {
                let cause = error.raw_os_error().map_or("", cause);
                write!(f, "{}, {cause}", reason(error))
            }
            Self::Nvme(status) => write!(f, "{} (status {:03x}h)", status_text(*status), status & 0x7ff),
            Self::Scsi(_, Some(sense)) => f.write_str(&sense.text()),
            Self::Scsi(status, None) => {
                write!(f, "the device returned status {status:02x}h without a reason")
            }
            Self::Ata(registers) => write!(
                f,
                "the drive aborted the command (status {:02x}h, error {:02x}h)",
                registers.status, registers.error
            ),
            Self::NoRegisters => f.write_str(
                "the adapter does not pass on the drive's response, so it is unknown whether the command \
                 completed",
            ),
        }
    }
}

impl Fault {
    /// Converts the fault into an error that names the attempted step and advises what to do next.
    #[must_use]
    pub fn during(&self, step: &str, advice: &str) -> AdminError {
        AdminError::device(format!("{step} failed: {self}; {advice}"))
    }
}

/// A device that accepts commands.
pub trait Admin {
    /// Sends an NVMe admin command and returns dword 0 of its completion.
    fn nvme(&mut self, command: &NvmeCommand, data: Data<'_>) -> Result<u32, Fault>;
    /// Sends an NVMe command without data that takes long; calls `meanwhile` about once a second until it completes.
    fn nvme_long(
        &mut self,
        command: &NvmeCommand,
        meanwhile: &mut dyn FnMut(&mut dyn Admin),
    ) -> Result<u32, Fault>;
    /// Sends a SCSI command. Any status of the device is `Ok`.
    fn scsi(&mut self, command: &[u8], data: Data<'_>, timeout: Duration) -> Result<ScsiAnswer, Fault>;
    /// Discards the whole device.
    fn discard(&mut self) -> Result<(), Fault>;
    /// Zeroes a byte range.
    fn write_zeroes(&mut self, start_bytes: u64, length_bytes: u64) -> Result<(), Fault>;
    /// Writes this content.
    fn write(&mut self, at_bytes: u64, content: &[u8]) -> Result<(), Fault>;
    /// Reads as much as `content` has room for.
    fn read(&mut self, at_bytes: u64, content: &mut [u8]) -> Result<(), Fault>;
    /// Verifies, right before a destructive command, that this is still the inspected device and that it is
    /// not in use. With `all_namespaces`, no other namespace of its NVMe subsystem may be in use either.
    fn recheck(&mut self, all_namespaces: bool) -> Result<(), AdminError>;
    /// Waits.
    fn pause(&mut self, length: Duration);
    /// Returns the time on the target's clock.
    fn now_ns(&self) -> u64;
}
