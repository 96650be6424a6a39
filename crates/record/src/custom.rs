//! The parts of a plan that are stored with a run, so that replays and reports do not need the plan file.

use serde::{Deserialize, Serialize};

use crate::{Access, IoKind};

/// The plan that a run was started from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFacts {
    /// Name of the preset, or of the file (without the folder).
    pub name: String,
    /// Title as printed.
    pub title: String,
    /// The reason why no result of the run counts as a PTS result; `None` if the results of its PTS tests may
    /// count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_pts: Option<String>,
    /// Sponsor of the test, printed in the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sponsor: Option<String>,
    /// Auditor of the test, printed in the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auditor: Option<String>,
    /// Special notes, printed in the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Name of the image file in the run's directory that the report shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// SHA-256 of the image file, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_sha256: Option<String>,
    /// Custom tests, which are not PTS tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_tests: Vec<CustomTest>,
}

/// A custom test: preconditioning, then rounds of cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomTest {
    /// Name as typed.
    pub name: String,
    /// Title as printed.
    pub title: String,
    /// The question that the test answers.
    pub purpose: String,
    /// Whether the test begins with a purge.
    pub purge: bool,
    /// Writes before the first round, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precondition: Vec<CustomWrite>,
    /// The kinds of I/O that make up each cell; empty if each cell has a single kind of I/O.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<IoKind>,
    /// Cells of a round, in order. If the test has streams, the block size is the size of the largest I/O.
    pub cells: Vec<CustomCell>,
    /// The steps of a trace that a round replays, in order; empty for other tests. Each step with streams has one of
    /// the cells, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<CustomStep>,
    /// The condition that ends the test.
    pub rounds: CustomRounds,
    /// The cells that are tracking variables, as indices into `cells`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracked: Vec<u32>,
    /// The tracked and plotted figure.
    pub figure: CustomFigure,
    /// The rounds that are averaged for the results.
    pub average: CustomAverage,
    /// Whether the test finds the knee of the demand curve and proposes a TC and QD.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finds_knee: bool,
}

/// A preconditioning workload of a custom test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomWrite {
    /// Order of the addresses.
    pub access: Access,
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// Threads (TC).
    pub threads: u16,
    /// Outstanding I/Os per thread (QD); `None` to use the run's setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u16>,
    /// Amount in multiples of the user capacity.
    pub capacities: u32,
    /// Time limit in ns, assuming cells of 60 s; the workload ends there even if the amount has not been written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ns: Option<u64>,
}

/// A cell of a custom test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomCell {
    /// Order of the addresses.
    pub access: Access,
    /// Percentage of reads.
    pub read_percent: u8,
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// Threads (TC); `None` to use the run's setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// Outstanding I/Os per thread (QD); `None` to use the run's setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u16>,
    /// Measured time in ns, assuming cells of 60 s. A run with shorter cells scales all times proportionally.
    pub run_ns: u64,
    /// Ramp time in ns before the measurement, assuming cells of 60 s.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ramp_ns: u64,
}

/// A step of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomStep {
    /// The kinds of I/O that make up the step's cell; empty if the step is an idle time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<IoKind>,
    /// Idle time in ns after the step's cell, assuming cells of 60 s.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub idle_ns: u64,
    /// The step in the trace.
    pub original: OriginalStep,
}

/// A step in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalStep {
    /// Length of the step.
    pub length_ns: u64,
    /// Number of reads and writes.
    pub ios: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Mean response time; `None` if no completion is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<u64>,
    /// The longest response time; `None` if no completion is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// Mean number of outstanding I/Os over the whole step, in thousandths; `None` if no completion is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding_thousandths: Option<u64>,
}

/// The condition that ends a custom test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomRounds {
    /// After this number of rounds, steady or not.
    Fixed(u32),
    /// At steady state, or at the run's limit on the number of rounds.
    UntilSteady,
}

/// The tracked and plotted figure of a custom test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomFigure {
    /// I/Os per second.
    Iops,
    /// MB/s, base 10.
    MegabytesPerSecond,
    /// Mean response time.
    MeanLatency,
}

/// The rounds that are averaged for the results of a custom test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomAverage {
    /// Number of rounds.
    pub rounds: u32,
    /// Whether to average from the first round of the first steady window on; otherwise, the last rounds are
    /// averaged.
    pub from_steady: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
