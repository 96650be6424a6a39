//! Why a command failed.

use std::io;

use record::errno::{cause, reason};

use crate::wire::ata::Registers;
use crate::wire::nvme::status_text;
use crate::wire::sense::Sense;

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
