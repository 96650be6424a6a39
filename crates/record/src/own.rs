//! What a run keeps of the plan it was begun by, so that a replay and a report need no plan file.

use serde::{Deserialize, Serialize};

use crate::Access;

/// The plan of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFacts {
    /// Name of the preset, or of the file without its folder.
    pub name: String,
    /// As printed.
    pub title: String,
    /// Why nothing in the run is a result of the PTS; none where its PTS tests may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_pts: Option<String>,
    /// Who had the test run, for the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sponsor: Option<String>,
    /// Who checks it, for the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auditor: Option<String>,
    /// Special notes for the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Name of a picture in the run's directory, for the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// SHA-256 of that picture, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_sha256: Option<String>,
    /// Tests that are not of the PTS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_tests: Vec<OwnTest>,
}

/// A test of the user's own: preconditioning, then rounds over cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnTest {
    /// As typed.
    pub name: String,
    /// As printed.
    pub title: String,
    /// What one wants to know with it.
    pub purpose: String,
    /// Whether it begins with a purge.
    pub purge: bool,
    /// Writes before the first round, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precondition: Vec<OwnWrite>,
    /// A round, in order.
    pub cells: Vec<OwnCell>,
    /// When it ends.
    pub rounds: OwnRounds,
    /// Tracking variables: positions in `cells`, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracked: Vec<u32>,
    /// What is tracked, and drawn.
    pub figure: OwnFigure,
    /// Which rounds the results are the mean of.
    pub average: OwnAverage,
    /// Whether it looks for the knee over demand and proposes a TC and QD.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finds_knee: bool,
}

/// Preconditioning of an own test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnWrite {
    /// Order of the addresses.
    pub access: Access,
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// Threads (TC).
    pub threads: u16,
    /// Outstanding I/Os per thread (QD); that of the settings when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u16>,
    /// Amount in multiples of the user capacity.
    pub capacities: u32,
    /// It ends after this time even if the amount is not written, for cells of 60 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ns: Option<u64>,
}

/// A cell of an own test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnCell {
    /// Order of the addresses.
    pub access: Access,
    /// Share of reads.
    pub read_percent: u8,
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// Threads (TC); those of the settings when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// Outstanding I/Os per thread (QD); that of the settings when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u16>,
    /// Measured time for cells of 60 s; a run with shorter cells is shorter in all its parts.
    pub run_ns: u64,
    /// Time under load before that, likewise, which counts for nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ramp_ns: u64,
}

/// When an own test ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnRounds {
    /// After so many rounds, steady or not.
    Fixed(u32),
    /// At steady state, or at the round limit of the settings.
    UntilSteady,
}

/// What an own test tracks and draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnFigure {
    /// I/Os per second.
    Iops,
    /// MB/s, base 10.
    MegabytesPerSecond,
    /// Mean response time.
    MeanLatency,
}

/// Which rounds the results of an own test are the mean of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnAverage {
    /// So many.
    pub rounds: u32,
    /// From the first round of the first steady window; else the last ones.
    pub from_steady: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
