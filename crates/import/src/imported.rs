//! The content of a foreign file, in a form that does not depend on its format.

use record::{HostFacts, ImportedTest};

/// The content of a foreign file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// The measuring tool with its version.
    pub tool: String,
    /// Date of the measurement, as stated in the file.
    pub date: Option<String>,
    /// Set if the figures were copied from a publication by hand.
    pub transcribed: bool,
    /// Whether the tool's own reports print throughput in MiB/s.
    pub reports_mebibytes: bool,
    /// Notes that a reader of the figures needs.
    pub remarks: Vec<String>,
    /// The drive.
    pub device: Device,
    /// The host.
    pub host: HostFacts,
    /// The tests.
    pub tests: Vec<ImportedTest>,
}

/// The drive as described in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Device {
    /// Path or name.
    pub path: String,
    /// Vendor.
    pub vendor: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Interface.
    pub interface: Option<String>,
    /// NAND type.
    pub nand: Option<String>,
    /// User capacity; 0 if unknown.
    pub capacity_bytes: u64,
}
