//! Results reported by another tool or a publication, without the underlying I/Os.

use serde::{Deserialize, Serialize};
use stdx::Histogram;

use crate::exported::Exported;
use crate::{Access, ExportedCell, ExportedFileSystem, ExportedMeter};

/// A caveat that must accompany every number of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// Read from a file instead of measured.
    Imported,
    /// The drive is simulated.
    Simulated,
    /// A test ended without steady state.
    NotAchieved,
    /// A test did not complete, or did not start.
    NotComplete,
    /// The run was interrupted.
    Interrupted,
    /// The run deviates from its profile.
    Modified,
}

impl MarkKind {
    /// All kinds, strongest first.
    pub const ALL: [Self; 6] = [
        Self::Imported,
        Self::Simulated,
        Self::NotAchieved,
        Self::NotComplete,
        Self::Interrupted,
        Self::Modified,
    ];

    /// Returns the key used in data exports, such as `not-achieved`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Imported => "imported",
            Self::Simulated => "simulated",
            Self::NotAchieved => "not-achieved",
            Self::NotComplete => "not-complete",
            Self::Interrupted => "interrupted",
            Self::Modified => "modified",
        }
    }

    /// Returns the mark in capitals, short enough for a column heading.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::Imported => "IMPORTED",
            Self::Simulated => "SIMULATED",
            Self::NotAchieved => "NOT STEADY",
            Self::NotComplete => "NOT COMPLETE",
            Self::Interrupted => "INTERRUPTED",
            Self::Modified => "MODIFIED",
        }
    }

    /// Returns the banner on pages, in capitals.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Imported => "IMPORTED",
            Self::Simulated => "SIMULATED",
            Self::NotAchieved => "SS NOT ACHIEVED",
            Self::NotComplete => "NOT COMPLETE",
            Self::Interrupted => "INTERRUPTED",
            Self::Modified => "MODIFIED",
        }
    }
}

/// Prefix of the label for imported results. It is followed by the name of the measuring tool.
pub const IMPORTED_FROM: &str = "IMPORTED from ";

/// A caveat that the imported file itself contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedMark {
    /// The mark.
    pub mark: MarkKind,
    /// Explanations; empty if the file has none.
    #[serde(default)]
    pub details: Vec<String>,
}

/// Origin of an imported run, whose figures Plateau did not measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Format of the file, such as `TKperf XML`.
    pub format: String,
    /// The measuring tool and its version, shown in place of the profile, such as `TKperf 2.2`.
    pub tool: String,
    /// Name of the file.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Date of the measurement, according to the file.
    pub date: Option<String>,
    /// Whether the figures were copied manually from a publication, so that there is no file from the tool.
    pub transcribed: bool,
    /// Whether the tool's own reports print throughput in MiB/s, so that their figures look different.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reports_mebibytes: bool,
    /// The exported run, if Plateau wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exported_run: Option<String>,
    /// Revision of the specification that the file names, such as `PTS-E 1.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Label of the simulated drive in the file, such as `SIMULATED sas-slc-2011 v2 1/512 seed 1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<String>,
    /// Marks in the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<StatedMark>,
    /// Titles of the requested tests that were never started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_begun: Vec<String>,
    /// The power meter that the file names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<ExportedMeter>,
    /// The target's file system, according to the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<ExportedFileSystem>,
    /// Notes for readers of the figures, about weighting, units or incorrect statements in the file.
    pub remarks: Vec<String>,
}

/// One test as reported in the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportedTest {
    /// Kind of test: `iops`, `lat`, `tp`, `wsat`, `areas-iops`, `areas-tp` or `jobs`.
    pub test: String,
    /// Description of the test.
    pub outline: String,
    /// How the drive was purged, as text; `None` if the file does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<String>,
    /// Description of the preconditioning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preconditioning: Option<String>,
    /// PC AR, Test AR, AR Amount and AR Segments, in the notation of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_range: Option<[String; 4]>,
    /// Date of the test, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// Outstanding I/Os per thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u16>,
    /// Block size of the tracking variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracked_block_bytes: Option<u32>,
    /// First and last round of the measurement window, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<(u32, u32)>,
    /// Whether steady state was reached, according to the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<bool>,
    /// Length of a round in ns, if the rounds form a time series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_ns: Option<u64>,
    /// Figures that apply to more than one workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<ToldFigure>,
    /// Contents of a data file exported by Plateau.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exported: Option<Exported>,
    /// All measurements.
    pub readings: Vec<Reading>,
}

/// A named figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldFigure {
    /// Name, such as `RND 4KiB W, FOB`.
    pub name: String,
    /// Last part of the key in comparisons, if the name contains results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Value; null if the file says that there is none.
    pub value: Option<f64>,
    /// Unit, such as `IOPS`, `min` or `GB`.
    pub unit: String,
    /// Whether the file says that the value may reflect the host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_limited: bool,
}

/// Reported results for one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Order of the addresses.
    pub access: Access,
    /// Percentage of reads, 0 to 100.
    pub read_percent: u8,
    /// Bytes per I/O; 0 if I/O sizes vary.
    pub block_bytes: u32,
    /// Round (or area of the disk), from 1; `None` for a mean over the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// `precondition` or `measure`, if the file distinguishes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Whether the round is in the measurement window, if the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_window: Option<bool>,
    /// Whether the file says that the values may reflect the host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_limited: bool,
    /// Name of the job, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Threads, if their number differs between workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// Outstanding I/Os per thread, if the number differs between workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u16>,
    /// Number of I/Os, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ios: Option<u64>,
    /// Reads and writes per second, combined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Mean response time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_mean_ns: Option<f64>,
    /// Maximum response time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_max_ns: Option<f64>,
    /// Percentiles as reported: percent, ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles_ns: Vec<(f64, f64)>,
    /// Histogram of all response times, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// Reads, if reported separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<DirectionReading>,
    /// Writes, if reported separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<DirectionReading>,
    /// Further facts, if Plateau wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exported: Option<Box<ExportedCell>>,
}

/// Reported results for one direction of a workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectionReading {
    /// Number of I/Os.
    pub ios: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// Minimum response time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_min_ns: Option<f64>,
    /// Mean response time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_mean_ns: Option<f64>,
    /// Maximum response time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_max_ns: Option<f64>,
    /// Percentiles as reported: percent, ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles_ns: Vec<(f64, f64)>,
}

/// Response times in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times(#[serde(with = "crate::histogram_wire")] pub Histogram);

impl Reading {
    /// Returns a reading without any results.
    #[must_use]
    pub const fn of(access: Access, read_percent: u8, block_bytes: u32) -> Self {
        Self {
            access,
            read_percent,
            block_bytes,
            round: None,
            phase: None,
            in_window: None,
            host_limited: false,
            name: None,
            threads: None,
            queue_depth: None,
            ios: None,
            iops: None,
            bytes_per_second: None,
            latency_mean_ns: None,
            latency_max_ns: None,
            percentiles_ns: Vec::new(),
            times: None,
            read: None,
            write: None,
            exported: None,
        }
    }
}
