//! Contents of Plateau's data exports other than readings: figures, windows, tables and charts, unchanged from the
//! file.

use serde::{Deserialize, Serialize};

use crate::{WorkloadEfficiency, WorkloadFileShare};

/// A test as exported by Plateau.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exported {
    /// Title of the test.
    pub title: String,
    /// Completed rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Whether a burn-in accepted the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<ExportedVerdict>,
    /// Unit of the tracking variables, as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracked_unit: Option<String>,
    /// Measurement windows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<ExportedWindow>,
    /// Marks on the WSAT curve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<ExportedMark>,
    /// Tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<ExportedTable>,
    /// Line charts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<ExportedChart>,
    /// Special notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The reason why the test is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Deviations from the profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modified: Vec<String>,
    /// Number of I/Os that the device failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_errors: Option<u64>,
    /// Bytes written, including preconditioning, if the file gives only this sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Whether the file lacks information about which workloads may reflect the host, as exports of runs imported
    /// from other tools do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_host_limits: bool,
    /// Performance per watt of the workloads in the measurement window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efficiency: Vec<WorkloadEfficiency>,
    /// The I/O of the devices below the file system during the workloads in the window, relative to the I/O
    /// that Plateau issued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_share: Vec<WorkloadFileShare>,
}

/// The verdict of a burn-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedVerdict {
    /// The reasons why the drive was rejected; empty if it was accepted.
    pub reasons: Vec<ExportedReason>,
    /// Limits that were not checked.
    pub unchecked: Vec<String>,
}

/// A reason for rejecting a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedReason {
    /// Kind of the reason.
    pub reason: String,
    /// Description of the reason.
    pub text: String,
    /// Location on the drive; `None` if there is none.
    pub offset_bytes: Option<u64>,
}

/// A measurement window with its criteria, in the test's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedWindow {
    /// The tracking variable.
    pub variable: String,
    /// First round, from 1.
    pub first_round: u32,
    /// Last round, from 1.
    pub last_round: u32,
    /// Mean of the values.
    pub mean: f64,
    /// Largest minus smallest value.
    pub data_excursion: f64,
    /// Limit on the data excursion.
    pub data_excursion_allowed: f64,
    /// Slope of the fitted line.
    pub slope_per_round: f64,
    /// Value of the fitted line at round 0.
    pub intercept: f64,
    /// Excursion of the fitted line.
    pub slope_excursion: f64,
    /// Limit on the slope excursion.
    pub slope_excursion_allowed: f64,
    /// Correlation between value and round.
    pub correlation: Option<f64>,
    /// The verdict.
    pub steady: bool,
    /// Whether a value may reflect the host.
    pub host_limited: bool,
}

/// A mark on the WSAT curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedMark {
    /// Its key: `peak-drop`.
    pub mark: String,
    /// Name of the mark.
    pub name: String,
    /// `IOPS`, or `min` since the start of the test.
    pub unit: String,
    /// The computed value.
    pub computed: Option<f64>,
    /// The value that the tester set.
    pub set: Option<f64>,
    /// Bytes written so far.
    pub written_bytes: Option<u64>,
}

/// A table on a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedTable {
    /// Title of the page.
    pub page: String,
    /// Heading above the table.
    pub heading: String,
    /// Heading of the row names.
    #[serde(default)]
    pub row_heading: String,
    /// Heading above the columns.
    #[serde(default)]
    pub column_heading: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<ExportedRow>,
}

/// A row of a table; each list has one entry per column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedRow {
    /// Row name.
    pub name: String,
    /// Values; null where a value is missing.
    pub values: Vec<Option<f64>>,
    /// The reason why a value is missing; empty where there is a value.
    pub absent: Vec<String>,
    /// Whether a value may reflect the host.
    pub host_limited: Vec<bool>,
    /// Units of the values; empty for a ratio.
    #[serde(default)]
    pub units: Vec<String>,
}

/// A line chart on a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedChart {
    /// Title of the page.
    pub page: String,
    /// Key of the charted quantity.
    pub shows: String,
    /// Horizontal axis.
    pub x: ExportedAxis,
    /// Vertical axis.
    pub y: ExportedAxis,
    /// Series in legend order.
    pub series: Vec<ExportedSeries>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedAxis {
    /// Label with unit.
    pub label: String,
    /// Scale, by key.
    pub scale: String,
}

/// A series in a chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedSeries {
    /// Name in the legend.
    pub name: String,
    /// Pairs of x and y.
    pub points: Vec<(f64, f64)>,
}
