//! The content of a foreign file, independent of its format.

use record::{ExportedFileSystem, ExportedMeter, HostFacts, ImportedTest, Settings, Stated, StatedMark};

/// The content of a foreign file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// The measuring tool and its version.
    pub tool: String,
    /// Date of the measurement, as written in the file.
    pub date: Option<String>,
    /// Set if the figures were manually copied from a publication.
    pub transcribed: bool,
    /// Whether the tool's own reports print throughput in MiB/s.
    pub reports_mebibytes: bool,
    /// Notes for readers of the figures.
    pub remarks: Vec<String>,
    /// Provenance, from Plateau's own exports.
    pub exported: Provenance,
    /// Settings of the run; `None` if the file does not contain them.
    pub settings: Option<Settings>,
    /// The operator's statements about the tester and the test platform.
    pub stated: Stated,
    /// The drive.
    pub device: Device,
    /// The host.
    pub host: HostFacts,
    /// The tests.
    pub tests: Vec<ImportedTest>,
}

/// Information in a Plateau export about its run; empty for other tools' files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Provenance {
    /// Id of the run.
    pub run: Option<String>,
    /// Revision of the specification.
    pub profile: Option<String>,
    /// Label of the simulated drive.
    pub simulated: Option<String>,
    /// Marks of the run.
    pub marks: Vec<StatedMark>,
    /// Titles of the requested tests that were never started.
    pub not_begun: Vec<String>,
    /// The power meter.
    pub power: Option<ExportedMeter>,
    /// The file system of a target that is a file.
    pub file_system: Option<ExportedFileSystem>,
}

/// The drive as described in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Device {
    /// Path or name.
    pub path: Option<String>,
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
    /// User capacity.
    pub capacity_bytes: Option<u64>,
    /// Logical sector size.
    pub logical_block_bytes: Option<u32>,
    /// Physical sector size.
    pub physical_block_bytes: Option<u32>,
}
