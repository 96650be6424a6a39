//! Choices that the PTS leaves to the tester for individual tests, as stored in `run.json`. The default applies
//! if a field is absent.

use serde::{Deserialize, Serialize};

/// The random workload of DIRTH.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirthChoice {
    /// Bytes per I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u32>,
    /// Percentage of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_percent: Option<u8>,
}

impl DirthChoice {
    /// All defaults apply.
    pub const NONE: Self = Self { block_bytes: None, read_percent: None };

    /// Returns whether all defaults apply.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// The length, workload and marks of WSAT.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaturationChoice {
    /// Amount to write, in user capacities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacities: Option<u32>,
    /// Time limit, in hours as counted by the specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<u32>,
    /// The conditions that end the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<SaturationUntil>,
    /// A workload other than random 4 KiB writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<SaturationLoad>,
    /// Marks that replace the computed marks. They are specified each time results are derived from the run, and are
    /// never stored.
    #[serde(skip)]
    pub marks: SaturationMarks,
}

/// The conditions that end WSAT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaturationUntil {
    /// Whichever comes first: the amount, the time limit or, if the profile requires it, steady state.
    First,
    /// When the amount and the time limit have both been reached.
    All,
    /// The time alone.
    Time,
}

/// Alternative workloads that PTS 2.0 defines for WSAT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaturationLoad {
    /// Random 8 KiB, 65 % reads.
    Oltp,
    /// Sequential 128 KiB, 90 % reads.
    Video,
    /// Sequential 0.5 KiB, 50 % reads.
    Metadata,
    /// The composite workload of CBW.
    Composite,
}

/// Marks that the tester chooses on the WSAT curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SaturationMarks {
    /// IOPS fresh out of the box.
    pub fresh_iops: Option<u32>,
    /// IOPS at the end.
    pub level_iops: Option<u32>,
    /// Minute of the peak drop.
    pub drop_minute: Option<u32>,
    /// First minute of steady state.
    pub settled_minute: Option<u32>,
}

impl SaturationMarks {
    /// Nothing is set.
    pub const NONE: Self =
        Self { fresh_iops: None, level_iops: None, drop_minute: None, settled_minute: None };
}

impl SaturationChoice {
    /// All defaults apply.
    pub const NONE: Self =
        Self { capacities: None, hours: None, until: None, workload: None, marks: SaturationMarks::NONE };

    /// Returns whether all defaults apply.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}
