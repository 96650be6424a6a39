//! What a device supports beyond reading and writing, as reported by the device.

use record::OtherNamespace;

use crate::command::{Admin, ata, nvme, scsi};
use crate::fault::Fault;
use crate::wire;

/// The commands that a device accepts and their limits, as reported by the device.
#[derive(Debug, Clone, PartialEq)]
pub struct Capabilities {
    /// The command set of the device, with the capabilities specific to it.
    pub protocol: Protocol,
    /// Capacity.
    pub capacity_bytes: u64,
    /// Logical block size.
    pub block_bytes: u32,
    /// Whether the kernel supports discards on the device.
    pub discard: bool,
    /// Whether the kernel supports write-zeroes commands on the device.
    pub write_zeroes: bool,
}

/// The device's native command set.
#[derive(Debug, Clone, PartialEq)]
pub enum Protocol {
    /// NVMe.
    Nvme(Nvme),
    /// ATA, encapsulated in SCSI commands.
    Ata(wire::ata::Identify),
    /// SCSI.
    Scsi(Scsi),
    /// A device with none of these command sets, such as virtio, loop, md, device mapper, MMC or a USB bridge.
    Plain,
    /// The device could not be queried; contains the reason.
    Unasked(String),
}

impl Protocol {
    /// Returns whether the device is an ATA drive that is locked with a password.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Ata(drive) if drive.security.locked)
    }
}

/// An NVMe namespace and its controller.
#[derive(Debug, Clone, PartialEq)]
pub struct Nvme {
    pub(crate) number: u32,
    pub(crate) controller: wire::nvme::Controller,
    pub(crate) namespace: wire::nvme::Namespace,
    /// Other namespaces in the same subsystem that are visible to the host.
    pub(crate) others: Vec<OtherNamespace>,
}

/// A SCSI disk. Values that the device does not report are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scsi {
    pub(crate) inquiry: wire::scsi::Inquiry,
    pub(crate) serial: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) capacity: Option<wire::scsi::Capacity>,
    pub(crate) rotation: Option<wire::scsi::Rotation>,
    pub(crate) format_unit: Option<bool>,
    pub(crate) sanitize_overwrite: Option<bool>,
    pub(crate) sanitize_block: Option<bool>,
    pub(crate) sanitize_crypto: Option<bool>,
}

const FORMAT_UNIT: u8 = 0x04;
const SANITIZE: u8 = 0x48;

/// Queries a device that is known to accept NVMe commands.
///
/// # Errors
/// Returns an error if the device does not respond.
pub fn ask_nvme(admin: &mut dyn Admin, number: u32, others: Vec<OtherNamespace>) -> Result<Protocol, Fault> {
    let controller = nvme::controller(admin)?;
    let namespace = nvme::namespace(admin, number)?;
    Ok(Protocol::Nvme(Nvme { number, controller, namespace, others }))
}

/// Queries a device that accepts SCSI commands. If the device translates them for an ATA drive, the result
/// describes that drive.
///
/// # Errors
/// Returns an error if the device does not respond.
pub fn ask_scsi(admin: &mut dyn Admin) -> Result<Protocol, Fault> {
    let inquiry = scsi::inquiry(admin)?;
    if inquiry.vendor.as_deref() == Some("ATA") {
        return ata::identify(admin).map(Protocol::Ata);
    }
    Ok(Protocol::Scsi(Scsi {
        serial: scsi::unit_serial(admin),
        name: scsi::unit_name(admin),
        capacity: scsi::capacity(admin).ok(),
        rotation: scsi::medium_rotation(admin),
        format_unit: scsi::supported(admin, FORMAT_UNIT, None),
        sanitize_overwrite: scsi::supported(admin, SANITIZE, Some(1)),
        sanitize_block: scsi::supported(admin, SANITIZE, Some(2)),
        sanitize_crypto: scsi::supported(admin, SANITIZE, Some(3)),
        inquiry,
    }))
}
