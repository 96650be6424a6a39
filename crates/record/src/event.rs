//! The one stream: everything that happened in a run, in order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Cut, HostCheck, ImportedTest, Segment};

/// One record of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Position, from 0.
    pub seq: u64,
    /// Wall-clock time, for human readers only: nothing is decided on it but the length of a gap.
    pub wall: jiff::Timestamp,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The run began; the digest ties `run.json` to this journal.
    Opened {
        /// SHA-256 of `run.json`, hexadecimal.
        run_sha256: String,
    },
    /// What the run was expected to take, before it began.
    Estimated(Estimated),
    /// A test began, at its purge.
    TestStarted {
        /// Name of the test.
        test: String,
    },
    /// The drive was purged.
    Purged(Purged),
    /// Preconditioning was written.
    Preconditioned(Segment),
    /// One cell of a test was measured.
    Measured(Segment),
    /// The drive failed during a workload; what it had done until then. The run stops behind it.
    Cut(Cut),
    /// The drive was left alone on purpose.
    Idled {
        /// Length in ns on the target's clock.
        length_ns: u64,
    },
    /// The drive was asked for its health; never while a test leaves it alone.
    Health {
        /// Time on the target's clock in ns.
        at_ns: u64,
        /// What it told.
        health: Health,
    },
    /// The drive's volatile write cache was turned on or off for the run, or back at its end.
    WriteCache {
        /// Whether it was on before; none when there is nothing to set.
        was_on: Option<bool>,
        /// Whether it is on now.
        is_on: Option<bool>,
        /// It was turned back after the last test.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        restored: bool,
    },
    /// A test as another tool or a publication tells it; only in imported runs.
    Imported(ImportedTest),
    /// The host was looked at, before the first test and again when the run went on.
    HostChecked {
        /// Every check, in the order of its table.
        checks: Vec<HostCheck>,
    },
    /// A setting of the host was changed for the run, or back at its end.
    Tuned {
        /// Which, such as `scheduler of nvme0n1`.
        setting: String,
        /// What it was before.
        was: String,
        /// What it is now.
        is: String,
        /// It was put back after the last test.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        restored: bool,
    },
    /// An NVMe namespace was formatted to another LBA format for the run, or back at its end.
    LbaFormat {
        /// Number of the format before.
        was: u8,
        /// Number of the format now.
        is: u8,
        /// It was put back after the last test.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        restored: bool,
    },
    /// The test said something about itself.
    Noted(Note),
    /// The run stopped before its end; what was finished stays.
    Interrupted {
        /// Why, in words.
        reason: String,
    },
    /// The run goes on after an interruption.
    Resumed {
        /// Wall-clock time in ns since the last record before.
        gap_ns: u64,
    },
    /// The cut test begins again at its purge; its earlier answers are void.
    Restarted {
        /// Name of the test.
        test: String,
    },
    /// A test came to its end.
    TestEnded {
        /// Name of the test.
        test: String,
        /// Whether steady state was reached; none for tests without one.
        converged: Option<bool>,
    },
    /// All tests came to their end.
    Closed,
}

/// What the tests of a run are expected to take; the purges are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimated {
    /// Where the speeds that it reckons with are from, in words.
    pub source: String,
    /// One for each test.
    pub tests: Vec<TestEstimate>,
}

/// What one test is expected to take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestEstimate {
    /// Name of the test.
    pub test: String,
    /// Steady as early as possible.
    pub shortest: Expense,
    /// Never steady.
    pub longest: Expense,
}

/// Rounds, time and bytes of a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expense {
    /// Rounds, those of preconditioning included.
    pub rounds: u32,
    /// Time on the target's clock in ns.
    pub duration_ns: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// A purge as it was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purged {
    /// Method, such as `NVMe Format SES=1` or `discard`.
    pub method: String,
    /// Whether the PTS accepts the method as a purge.
    pub pts_purge: bool,
    /// Start on the target's clock in ns.
    pub start_ns: u64,
    /// End on the target's clock in ns.
    pub end_ns: u64,
    /// What shows that it was done, and why it was done in this way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Samples were written before and read after it, so the drive was not left alone until the test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub samples_read: bool,
}

/// What a drive tells of its health. What it does not tell is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<i16>,
    /// Critical Warning of the NVMe health log: bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_warning: Option<u8>,
    /// Spare blocks left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_spare_percent: Option<u8>,
    /// Share of the rated endurance that is used up; may pass 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentage_used: Option<u8>,
    /// Hours under power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
    /// Bytes that hosts have read in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_read_bytes: Option<u64>,
    /// Bytes that hosts have written in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_written_bytes: Option<u64>,
    /// Bytes that it has written to its flash in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_written_bytes: Option<u64>,
    /// Unrecovered errors of data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<u64>,
    /// Losses of power without notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_shutdowns: Option<u64>,
    /// Seconds in its life that it slowed itself down to cool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_seconds: Option<u64>,
    /// Minutes in its life above the warning temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_minutes: Option<u64>,
    /// Whether it slows itself down now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<bool>,
    /// NVMe power state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_state: Option<u8>,
    /// Power by the name of its meter: `package-0` (RAPL, mean since it was read last), or a sensor of the host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub power_milliwatts: BTreeMap<String, u64>,
}

/// What a test says while it runs; derived from answers, so a replay says the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// A round begins.
    RoundStarted {
        /// From 1.
        round: u32,
        /// Cells in the round.
        cells: u32,
    },
    /// The rounds that were begun are over: what is measured from here on is no cell of the last one.
    RoundsEnded,
    /// A round was judged.
    Judged(Judgement),
    /// A step of the profile cannot be done on this target and was left out.
    Skipped {
        /// Which.
        what: String,
        /// Why.
        why: String,
    },
    /// Rounds count anew for steady state because the run was interrupted.
    WindowRestarted {
        /// First round that may belong to a window.
        first_round: u32,
    },
}

/// Steady state after one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// The round just finished.
    pub round: u32,
    /// All variables are steady in the same window.
    pub steady: bool,
    /// One for each tracking variable.
    pub variables: Vec<VariableJudgement>,
}

/// One tracking variable after one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableJudgement {
    /// Which, such as `RND 4KiB W`.
    pub name: String,
    /// Its value in this round, in the test's unit.
    pub value: f64,
    /// Range over the window as a share of the mean; none before five rounds.
    pub range_share: Option<f64>,
    /// Slope excursion as a share of the mean; none before five rounds.
    pub slope_share: Option<f64>,
    /// Both within their limits.
    pub steady: bool,
}
