//! The conclusions of a test: everything that reports, terminals and comparisons show about it.

use record::{Purged, Range};
use stdx::units::amount_base2;

use crate::exhibit::Page;
use crate::explain::Explanation;
use crate::steady::Steadiness;
use crate::{Context, Deviation, Stop, Test, modified};

/// The result of one test, complete or interrupted.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Name of the test, as in `plateau run NAME`.
    pub test: String,
    /// Title on pages: `IOPS`.
    pub title: String,
    /// Clause printed on reports: `8.0`; None if the profile does not list the test.
    pub clause: Option<&'static str>,
    /// Purpose of the test, in one sentence.
    pub purpose: String,
    /// Outline of the test, in one sentence.
    pub outline: String,
    /// Fields of the page header.
    pub header: TestHeader,
    /// Number of completed rounds.
    pub rounds: u32,
    /// Whether steady state was reached; None if the test is incomplete or has no steady state.
    pub converged: Option<bool>,
    /// The deciding windows, one entry per tracking variable; empty before five rounds.
    pub window: Vec<(String, Steadiness)>,
    /// Status of each tracking variable, and why it is not steady.
    pub explained: Vec<Explanation>,
    /// Report pages in order.
    pub pages: Vec<Page>,
    /// Figures in the section "Select Performance Data".
    pub key_figures: Vec<KeyFigure>,
    /// Special notes: skipped steps, device errors, interruptions.
    pub notes: Vec<String>,
    /// Deviations from the profile caused by the course of this run: purge method, gaps, skipped cells.
    pub modified: Vec<Deviation>,
    /// Number of cells that the host may have limited: `5 of 280 cells`; None if there are none.
    pub host_limited: Option<String>,
    /// Why the test is incomplete; None if it is complete.
    pub stop: Option<Stop>,
}

impl Outcome {
    /// The fields that do not depend on measurements: name, header, deviations from the profile. `range` is the range
    /// of the test loop.
    pub(crate) fn begun(
        test: &Test,
        context: &Context<'_>,
        purge: Option<&Purged>,
        range: Range,
        stop: Option<Stop>,
    ) -> Self {
        let mut modified = Vec::new();
        modified::by_family(test, context.profile, &mut modified);
        modified::by_purge(purge, &mut modified);
        Self {
            test: test.name.into(),
            title: test.title.into(),
            clause: context.profile.listed(test.family).map(|listed| listed.clause),
            purpose: String::new(),
            outline: String::new(),
            header: TestHeader::of(context, test.family, purge, range),
            rounds: 0,
            converged: None,
            window: Vec::new(),
            explained: Vec::new(),
            pages: Vec::new(),
            key_figures: Vec::new(),
            notes: Vec::new(),
            modified,
            host_limited: None,
            stop,
        }
    }
}

/// One of the large figures on a summary page.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyFigure {
    /// Label, for example `RND 4KiB W`.
    pub name: String,
    /// Value; None if not measured.
    pub value: Option<f64>,
    /// Text printed if there is no value: `n/a`.
    pub absent: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Number of decimal places.
    pub decimals: usize,
    /// Whether a host-limited cell contributed to the value, so that it may reflect the host instead of the drive.
    pub host_limited: bool,
}

/// Whether a test reached steady state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convergence {
    /// It did.
    Reached,
    /// It did not within its rounds.
    NotReached,
    /// It has more rounds to go.
    NotComplete,
    /// It does not end by steady state.
    NotSought,
}

impl std::fmt::Display for Convergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Reached => "YES",
            Self::NotReached => "NO",
            Self::NotComplete => "not complete",
            Self::NotSought => "N/A",
        })
    }
}

/// Fields of the page header of PTS 1.0, as printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestHeader {
    /// `REQUIRED` or `OPTIONAL`.
    pub requirement: &'static str,
    /// Purge method, or why the target was not purged yet.
    pub purge: String,
    /// Workload-independent preconditioning: `2X SEQ/128KiB`.
    pub workload_independent: Option<String>,
    /// Workload-dependent preconditioning: `Full IOPS Loop`.
    pub workload_dependent: String,
    /// Data pattern: `RND`.
    pub data_pattern: String,
    /// Outstanding I/Os per thread.
    pub queue_depth: u16,
    /// Threads.
    pub threads: u16,
    /// Whether steady state was reached.
    pub convergence: Convergence,
    /// Rounds of the measurement window: `1-5`.
    pub rounds: String,
    /// Active range of preconditioning: `100%`.
    pub pc_ar: String,
    /// Active range of the test: `100%`.
    pub test_ar: String,
    /// Active range amount: `16 GiB` or `100%`.
    pub ar_amount: String,
    /// Number of active range segments: `2048` or `N/A`.
    pub ar_segments: String,
    /// Additional header fields of PTS-E 1.1 and 2.0.
    pub phases: Phases,
}

/// The phases of a test as printed in the page header of PTS-E 1.1 and 2.0. Absent phases print `None` and `N/A`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phases {
    /// Pre Condition 1: workload, TC/QD, duration.
    pub pre_condition_1: [String; 3],
    /// Pre Condition 2: workload, TC/QD, rounds or duration.
    pub pre_condition_2: [String; 3],
    /// Test Stimulus 1: workload, R/W mix, block sizes, TC/QD, rounds or duration.
    pub stimulus_1: [String; 5],
    /// Test Stimulus 2: workload, TC/QD, rounds or duration.
    pub stimulus_2: [String; 3],
}

impl Default for Phases {
    fn default() -> Self {
        let none = || ["None", "N/A", "N/A"].map(str::to_owned);
        Self {
            pre_condition_1: none(),
            pre_condition_2: none(),
            stimulus_1: ["None", "N/A", "N/A", "N/A", "N/A"].map(str::to_owned),
            stimulus_2: none(),
        }
    }
}

impl TestHeader {
    /// Fields common to all tests; `range` is the range of the test loop.
    pub(crate) fn of(context: &Context<'_>, family: &str, purge: Option<&Purged>, range: Range) -> Self {
        let settings = context.settings;
        let (ar_amount, ar_segments) = match (settings.active_range_amount_bytes, range.segments) {
            (Some(_), 2..) => (amount_base2(range.span().touched_bytes()), range.segments.to_string()),
            _ => ("100%".to_owned(), "N/A".to_owned()),
        };
        Self {
            requirement: context.profile.listed(family).map_or("NOT IN THE PROFILE", |l| l.requirement),
            purge: purge.map_or_else(|| "not yet".into(), |purge| purge.method.clone()),
            workload_independent: None,
            workload_dependent: "None".into(),
            data_pattern: "RND".into(),
            queue_depth: settings.queue_depth,
            threads: settings.threads,
            convergence: Convergence::NotSought,
            rounds: "N/A".into(),
            pc_ar: format!("{}%", settings.precondition_range_percent),
            test_ar: format!("{}%", settings.test_range_percent),
            ar_amount,
            ar_segments,
            phases: Phases::default(),
        }
    }

    /// Window rounds in the header format of PTS-E 1.1 and 2.0: `1-5`, `21-25 (NOT ACHIEVED)`.
    pub(crate) fn steady_rounds(&self) -> String {
        let missed = if self.convergence == Convergence::NotReached { " (NOT ACHIEVED)" } else { "" };
        format!("{}{missed}", self.rounds)
    }

    /// Adds the steady-state verdict of a round-based test.
    pub(crate) fn judged(self, converged: bool, complete: bool, window: Option<&Steadiness>) -> Self {
        let convergence = match (converged, complete) {
            (true, _) => Convergence::Reached,
            (false, true) => Convergence::NotReached,
            (false, false) => Convergence::NotComplete,
        };
        Self {
            convergence,
            rounds: window.map_or_else(|| "none".into(), |w| format!("{}-{}", w.first_round, w.last_round)),
            ..self
        }
    }
}
