//! Layout of the information about a target that is a file. Doc comments in this file are part of the schema.

use schemars::JsonSchema;
use serde::Serialize;

/// The file system of a target that is a file.
#[derive(Serialize, JsonSchema)]
pub struct ReportFileSystem {
    /// As the kernel names it: `ext4`, `xfs`, `btrfs`.
    pub kind: String,
    /// Null if an imported file does not contain it; this also applies to the next three keys.
    pub block_bytes: Option<u32>,
    pub mount_options: Option<String>,
    /// Kernel names of the block devices below it; empty if it has none or they are not known.
    pub devices: Option<Vec<String>>,
    /// File system and devices as printed.
    pub words: Option<String>,
    /// The I/O overhead of the file system over all workloads of the run; null if the I/O of the devices is not known.
    pub share: Option<FileShare>,
}

/// I/O of the devices below the file system, by all their users, per I/O issued by Plateau. A ratio is null if
/// Plateau issued no such I/O.
#[derive(Serialize, JsonSchema)]
pub struct FileShare {
    pub bytes_written_per_byte: Option<f64>,
    pub writes_per_write: Option<f64>,
    pub bytes_read_per_byte: Option<f64>,
    pub reads_per_read: Option<f64>,
    pub flushes_per_thousand_writes: Option<f64>,
}

/// The I/O overhead of the file system in a workload, over the rounds of the window.
#[derive(Serialize, JsonSchema)]
pub struct TestFileShare {
    /// In the notation of the PTS, with TC and QD.
    pub workload: String,
    /// Null if the I/O of the devices is not known.
    pub share: Option<FileShare>,
    /// Extents of the file after the latest round; null if not known.
    pub extents: Option<u64>,
}

/// The file after a workload, and the devices below it during the workload.
#[derive(Serialize, JsonSchema)]
pub struct CellOnFile {
    pub allocated_bytes: u64,
    /// Null if the file system does not report them.
    pub extents: Option<u64>,
    /// Null if the I/O of the devices is not known.
    pub below: Option<BelowIo>,
}

/// I/O of the devices below a file system, by all their users.
#[derive(Serialize, JsonSchema)]
pub struct BelowIo {
    pub read_ios: u64,
    pub read_bytes: u64,
    pub write_ios: u64,
    pub write_bytes: u64,
    pub flushes: u64,
}
