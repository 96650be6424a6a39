//! Facts about a workload that only Plateau's own data exports contain: how it was driven, its power, and the I/O
//! below its target file. The units are the same as in the exports, so that the values remain unchanged if they are
//! exported again.

use serde::{Deserialize, Serialize};

use crate::{OnFile, PowerSubject};

/// How Plateau drove a workload. Values missing from the file are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driven {
    /// Start on the run's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<u64>,
    /// Length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// Number of failed I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// The load engine, as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Length of the interruption immediately before the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_before_ns: Option<u64>,
    /// Fraction of the host's ceiling that was used, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_share: Option<f64>,
    /// CPU time of the load threads in user mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_ns: Option<u64>,
    /// CPU time of the load threads in kernel mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_ns: Option<u64>,
    /// Voluntary context switches of these threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches of these threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
}

/// Facts about a workload that only Plateau's own exports contain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedCell {
    /// The workload as printed; if I/O sizes vary, it names the smallest and the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Whether the test's results are based on this workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_results: Option<bool>,
    /// How the workload was driven.
    #[serde(default)]
    pub driven: Driven,
    /// Power during the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<CellPower>,
    /// The target file after the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_file: Option<OnFile>,
}

/// A value with its total uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uncertain {
    /// The value.
    pub value: f64,
    /// Uncertainty of the value; `None` if it is not known.
    #[serde(default)]
    pub uncertainty: Option<f64>,
}

/// The meter of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedMeter {
    /// The source as requested, such as `hwmon:nvme`; `None` if the file does not name it.
    #[serde(default)]
    pub source: Option<String>,
    /// Description of the meter; `None` if the file has none.
    #[serde(default)]
    pub meter: Option<String>,
    /// What the meter measures.
    pub subject: PowerSubject,
    /// Smallest difference between two readings.
    #[serde(default)]
    pub resolution_watts: Option<f64>,
    /// Tolerance of a reading.
    #[serde(default)]
    pub tolerance_percent: Option<f64>,
    /// Idle power before the first test.
    #[serde(default)]
    pub idle_watts: Option<Uncertain>,
}

/// A workload's performance per watt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Efficiency {
    /// Power attributed to the workload.
    pub watts: Uncertain,
    /// Reads and writes per second, per watt.
    pub iops_per_watt: Uncertain,
    /// Bytes per second, per watt.
    pub bytes_per_second_per_watt: Uncertain,
}

/// Power during one workload.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellPower {
    /// Mean of the samples.
    pub mean_watts: f64,
    /// Smallest sample.
    pub min_watts: f64,
    /// Largest sample.
    pub max_watts: f64,
    /// Number of samples.
    pub samples: u32,
    /// The performance per watt; `None` if no power is attributed to the workload.
    #[serde(default)]
    pub efficiency: Option<Efficiency>,
}

/// A workload with its performance per watt, averaged over the rounds of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadEfficiency {
    /// The workload in the notation of the PTS, with TC and QD.
    pub workload: String,
    /// Number of rounds in which the power is known; `None` if the file does not give the number.
    #[serde(default)]
    pub rounds: Option<u64>,
    /// Mean over these rounds; `None` if the power was not measured.
    #[serde(default)]
    pub mean: Option<Efficiency>,
}

/// I/O of the devices below a file system, relative to the I/O that Plateau issued. A ratio is `None` if its
/// denominator is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileShare {
    /// Bytes written to the devices per byte that Plateau wrote.
    #[serde(default)]
    pub bytes_written_per_byte: Option<f64>,
    /// Number of writes to the devices per write that Plateau issued.
    #[serde(default)]
    pub writes_per_write: Option<f64>,
    /// Bytes read from the devices per byte that Plateau read.
    #[serde(default)]
    pub bytes_read_per_byte: Option<f64>,
    /// Number of reads from the devices per read that Plateau issued.
    #[serde(default)]
    pub reads_per_read: Option<f64>,
    /// Number of device flushes per 1,000 writes that Plateau issued.
    #[serde(default)]
    pub flushes_per_thousand_writes: Option<f64>,
}

/// The file system that contains a target file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedFileSystem {
    /// Type, as named by the kernel: `ext4`.
    pub kind: String,
    /// Size of its blocks.
    #[serde(default)]
    pub block_bytes: Option<u32>,
    /// Mount options.
    #[serde(default)]
    pub mount_options: Option<String>,
    /// Kernel names of the underlying block devices, empty if there are none; `None` if the file does not name them.
    #[serde(default)]
    pub devices: Option<Vec<String>>,
    /// File system and devices as printed.
    #[serde(default)]
    pub words: Option<String>,
    /// The I/O of the devices over all workloads in the run, relative to Plateau's; `None` if it is not known.
    #[serde(default)]
    pub share: Option<FileShare>,
}

/// A workload, and the I/O that the devices below the file system performed for it in the rounds of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadFileShare {
    /// The workload in the notation of the PTS, with TC and QD.
    pub workload: String,
    /// The I/O of the devices relative to Plateau's; `None` if it is not known.
    #[serde(default)]
    pub share: Option<FileShare>,
    /// Number of the file's extents after the latest round; `None` if it is not known.
    #[serde(default)]
    pub extents: Option<u64>,
}
