//! Device commands other than a test's reads and writes.
//!
//! [`Admin`] is implemented by real devices and, in tests, by a script of expected commands and mock responses.

pub(crate) mod ata;
pub(crate) mod nvme;
#[cfg(test)]
pub(crate) mod script;
pub(crate) mod scsi;

use std::time::Duration;

use crate::error::AdminError;
use crate::fault::Fault;

/// Timeout for commands that only query the device.
pub(crate) const ASKING: Duration = Duration::from_secs(30);

/// A command's data buffer.
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
    /// Returns a command with the timeout for queries.
    #[must_use]
    pub fn of(opcode: u8, namespace: u32, cdw10: u32, cdw11: u32) -> Self {
        Self { opcode, namespace, cdw10_to_15: [cdw10, cdw11, 0, 0, 0, 0], timeout: ASKING }
    }
}

/// A SCSI device's response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScsiAnswer {
    /// Status.
    pub status: u8,
    /// Sense data.
    pub sense: Vec<u8>,
}

/// A device that accepts commands.
pub trait Admin {
    /// Sends an NVMe admin command and returns dword 0 of its completion.
    fn nvme(&mut self, command: &NvmeCommand, data: Data<'_>) -> Result<u32, Fault>;
    /// Sends a long-running NVMe command that transfers no data; calls `meanwhile` about once a second until the
    /// command completes.
    fn nvme_long(
        &mut self,
        command: &NvmeCommand,
        meanwhile: &mut dyn FnMut(&mut dyn Admin),
    ) -> Result<u32, Fault>;
    /// Sends a SCSI command. Returns `Ok` whatever status the device returns.
    fn scsi(&mut self, command: &[u8], data: Data<'_>, timeout: Duration) -> Result<ScsiAnswer, Fault>;
    /// Discards the whole device.
    fn discard(&mut self) -> Result<(), Fault>;
    /// Zeroes a byte range.
    fn write_zeroes(&mut self, start_bytes: u64, length_bytes: u64) -> Result<(), Fault>;
    /// Writes `content` at `at_bytes`.
    fn write(&mut self, at_bytes: u64, content: &[u8]) -> Result<(), Fault>;
    /// Fills `content` with the data starting at `at_bytes`.
    fn read(&mut self, at_bytes: u64, content: &mut [u8]) -> Result<(), Fault>;
    /// Verifies, right before a destructive command, that this is still the device that was inspected and
    /// that it is not in use. If `all_namespaces` is set, no other namespace of its NVMe subsystem may be in
    /// use either.
    fn recheck(&mut self, all_namespaces: bool) -> Result<(), AdminError>;
    /// Waits for `length`.
    fn pause(&mut self, length: Duration);
    /// Returns the time on the target's clock.
    fn now_ns(&self) -> u64;
}
