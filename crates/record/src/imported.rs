//! Results reported by another tool or a publication, without the underlying I/Os.

use serde::{Deserialize, Serialize};
use stdx::Histogram;

use crate::Access;

/// Origin of an imported run, whose figures Plateau did not measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Format of the file: `TKperf XML`.
    pub format: String,
    /// The tool that made the measurement, with its version; shown in place of the profile: `TKperf 2.2`.
    pub tool: String,
    /// Name of the file.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Date of the measurement, as stated in the file.
    pub date: Option<String>,
    /// Whether the figures were copied by hand from a publication, so that no file of the tool exists.
    pub transcribed: bool,
    /// Whether the tool's own reports print throughput in MiB/s, so that their figures look different.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reports_mebibytes: bool,
    /// Notes that readers of the figures need: weighting, units, incorrect statements in the file.
    pub remarks: Vec<String>,
}

/// One test as reported by the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportedTest {
    /// Kind of test: `iops`, `lat`, `tp`, `wsat`, `areas-iops`, `areas-tp`, `jobs`.
    pub test: String,
    /// Description of the test.
    pub outline: String,
    /// How the drive was purged, in words; `None` if the file does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<String>,
    /// Preconditioning, in words.
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
    /// Block size of the variable that determined steady state.
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
    /// All measurements.
    pub readings: Vec<Reading>,
}

/// A named figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldFigure {
    /// Name, such as `RND 4KiB W, FOB`.
    pub name: String,
    /// Value.
    pub value: f64,
    /// Unit: `IOPS`, `min`, `GB`.
    pub unit: String,
}

/// Reported results of one workload.
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
    /// Name of the job, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Threads, if their number differs between workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// Outstanding I/Os per thread, if their number differs between workloads.
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
    /// Largest response time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_max_ns: Option<f64>,
    /// Percentiles as reported: percent, ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles_ns: Vec<(f64, f64)>,
    /// Histogram of all response times, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
}

/// Response times in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times(#[serde(with = "crate::histogram_wire")] pub Histogram);

impl Reading {
    /// Returns a reading in which all results are absent.
    #[must_use]
    pub const fn of(access: Access, read_percent: u8, block_bytes: u32) -> Self {
        Self {
            access,
            read_percent,
            block_bytes,
            round: None,
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
        }
    }
}
