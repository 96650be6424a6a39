//! The event stream: everything that happens in a run, in order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Cut, HostCheck, ImportedTest, Power, PurgeEvidence, Segment};

/// A record in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Position, from 0.
    pub seq: u64,
    /// Wall-clock time for human readers; Plateau uses it only to compute the length of a gap.
    pub wall: jiff::Timestamp,
    /// The event.
    pub event: Event,
}

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The run started. Binds the journal to its `run.json`.
    Opened {
        /// SHA-256 of `run.json`, hexadecimal.
        run_sha256: String,
    },
    /// The estimate made before the run started.
    Estimated(Estimated),
    /// A test started; its first step is the purge.
    TestStarted {
        /// Name of the test.
        test: String,
    },
    /// The drive was purged.
    Purged(Purged),
    /// A preconditioning workload completed.
    Preconditioned(Segment),
    /// One cell of a test was measured.
    Measured(Segment),
    /// The drive failed during a workload; the event contains the I/Os completed up to that point. The run ends
    /// after this event.
    Cut(Cut),
    /// The drive was deliberately left idle.
    Idled {
        /// Length in ns on the target's clock.
        length_ns: u64,
    },
    /// The drive's health was read, which never happens while a test leaves the drive idle.
    Health {
        /// Time on the target's clock in ns.
        at_ns: u64,
        /// The reported health.
        health: Health,
    },
    /// The power of the idle drive or host was measured before the first test.
    IdlePower {
        /// Wall-clock length of the measurement in ns.
        length_ns: u64,
        /// The measured power.
        power: Power,
    },
    /// The drive's volatile write cache was set for the run, or restored at the end of the run.
    WriteCache {
        /// Whether the cache was on before; `None` if the drive has no cache that can be set.
        was_on: Option<bool>,
        /// Whether the cache is on now.
        is_on: Option<bool>,
        /// Whether the setting was restored after the last test.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        restored: bool,
    },
    /// A test as reported by another tool or a publication; occurs only in imported runs.
    Imported(ImportedTest),
    /// The host was checked, before the first test and again when the run was resumed.
    HostChecked {
        /// All checks, in the order in which they are reported.
        checks: Vec<HostCheck>,
    },
    /// A host setting was changed for the run, or restored at the end of the run.
    Tuned {
        /// The setting, such as `scheduler of nvme0n1`.
        setting: String,
        /// Previous value.
        was: String,
        /// Current value.
        is: String,
        /// Whether the setting was restored after the last test.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        restored: bool,
    },
    /// An NVMe namespace was formatted to another LBA format for the run, or to its original format at the end.
    LbaFormat {
        /// Number of the previous format.
        was: u8,
        /// Number of the current format.
        is: u8,
        /// Whether the format was restored after the last test.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        restored: bool,
    },
    /// A note by the test about its progress.
    Noted(Note),
    /// The run stopped early. The completed work is kept.
    Interrupted {
        /// The reason as text.
        reason: String,
    },
    /// The run continues after an interruption.
    Resumed {
        /// Wall-clock time in ns since the previous record.
        gap_ns: u64,
    },
    /// The interrupted test restarts from its purge; its earlier results no longer count.
    Restarted {
        /// Name of the test.
        test: String,
    },
    /// A test completed.
    TestEnded {
        /// Name of the test.
        test: String,
        /// Whether steady state was reached; `None` for tests without steady state.
        converged: Option<bool>,
    },
    /// All tests completed.
    Closed,
}

/// Expected duration and writes of a run's tests, without purges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimated {
    /// The source of the assumed speeds, as text.
    pub source: String,
    /// One estimate per test.
    pub tests: Vec<TestEstimate>,
}

/// Expected duration and writes of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestEstimate {
    /// Name of the test.
    pub test: String,
    /// Rounds, duration and writes if the test becomes steady as early as possible.
    pub shortest: Expense,
    /// Rounds, duration and writes if the test never becomes steady.
    pub longest: Expense,
}

/// Rounds, duration and writes of a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expense {
    /// Number of rounds, including those of preconditioning.
    pub rounds: u32,
    /// Time on the target's clock in ns.
    pub duration_ns: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// A completed purge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purged {
    /// Method as shown to the user, such as `NVMe Format, user data erase (SES 1)`.
    pub method: String,
    /// Name of the method on the command line; `None` for files and arrays, which have only one method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether the PTS accepts the method as a purge.
    pub pts_purge: bool,
    /// Start on the target's clock in ns.
    pub start_ns: u64,
    /// End on the target's clock in ns.
    pub end_ns: u64,
    /// Evidence that the purge was performed, and why this method was chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<PurgeEvidence>,
    /// Whether samples were written before the purge and read after it; if so, the drive was not idle between
    /// purge and test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub samples_read: bool,
}

/// Health data reported by a drive; values that the drive does not report are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Temperature in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<i16>,
    /// Critical Warning bits in the NVMe health log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_warning: Option<u8>,
    /// Remaining spare blocks, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_spare_percent: Option<u8>,
    /// Percentage of the rated endurance that has been used; may exceed 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentage_used: Option<u8>,
    /// Power-on hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
    /// Bytes read by hosts over the drive's life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_read_bytes: Option<u64>,
    /// Bytes written by hosts over the drive's life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_written_bytes: Option<u64>,
    /// Bytes written to flash over the drive's life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_written_bytes: Option<u64>,
    /// Unrecovered data errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<u64>,
    /// Sectors that the drive has replaced with spares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reallocated_sectors: Option<u64>,
    /// Power losses without a shutdown notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_shutdowns: Option<u64>,
    /// Seconds of thermal throttling over the drive's life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_seconds: Option<u64>,
    /// Minutes above the warning temperature over the drive's life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_minutes: Option<u64>,
    /// Whether the drive is currently throttled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<bool>,
    /// NVMe power state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_state: Option<u8>,
    /// Power by meter name: `package-0` (RAPL, mean since the previous reading) or the name of a sensor in the
    /// host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub power_milliwatts: BTreeMap<String, u64>,
}

/// A note by a running test. Notes are derived from results, so a replay reproduces them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Note {
    /// A round starts.
    RoundStarted {
        /// Round number, starting at 1.
        round: u32,
        /// Number of cells in the round.
        cells: u32,
    },
    /// The rounds are complete; later measurements do not belong to any round.
    RoundsEnded,
    /// Steady state was evaluated after a round.
    Judged(Judgement),
    /// A step of the profile was skipped because this target does not allow it.
    Skipped {
        /// The step.
        what: String,
        /// The reason.
        why: String,
    },
    /// The steady-state window restarts because the run was interrupted.
    WindowRestarted {
        /// First round that can belong to the new window.
        first_round: u32,
    },
}

/// Steady-state evaluation after one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// The round just completed.
    pub round: u32,
    /// Whether all variables are steady in the same window.
    pub steady: bool,
    /// One entry per tracking variable.
    pub variables: Vec<VariableJudgement>,
}

/// Evaluation of one tracking variable after one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableJudgement {
    /// Name of the variable, such as `RND 4KiB W`.
    pub name: String,
    /// Value of the variable in this round, in the test's unit.
    pub value: f64,
    /// Range over the window as a fraction of the mean; `None` in the first four rounds.
    pub range_share: Option<f64>,
    /// Slope excursion as a fraction of the mean; `None` in the first four rounds.
    pub slope_share: Option<f64>,
    /// Whether range and slope are within their limits.
    pub steady: bool,
}
