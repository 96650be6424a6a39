//! The page header of a test, in the format required by each PTS edition.

use record::{Purged, Range};
use stdx::units::amount_base2;

use crate::Context;
use crate::method::steady::WindowStats;

/// Whether a test reached steady state, for its page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convergence {
    /// Steady state was reached.
    Reached,
    /// Steady state was not reached within the allowed rounds.
    NotReached,
    /// The test has not completed its rounds.
    NotComplete,
    /// The test does not require steady state.
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
    /// Purge method, or the reason why the target has not been purged yet.
    pub purge: String,
    /// Workload-independent preconditioning, such as `2X SEQ/128KiB`.
    pub workload_independent: Option<String>,
    /// Workload-dependent preconditioning, such as `Full IOPS Loop`.
    pub workload_dependent: String,
    /// Data pattern: `RND`.
    pub data_pattern: String,
    /// Outstanding I/Os per thread; None if an imported file does not contain it.
    pub queue_depth: Option<u16>,
    /// Threads; None if an imported file does not contain it.
    pub threads: Option<u16>,
    /// Whether steady state was reached.
    pub convergence: Convergence,
    /// Rounds of the measurement window, such as `1-5`.
    pub rounds: String,
    /// Duration and amount written, for a test that ends after a duration or amount: `24 h 1.9 TB`.
    pub length: Option<String>,
    /// Active range of preconditioning, such as `100%`.
    pub pc_ar: String,
    /// Active range of the test, such as `100%`.
    pub test_ar: String,
    /// Active range amount: `16 GiB` or `100%`.
    pub ar_amount: String,
    /// Number of active range segments: `2048` or `N/A`.
    pub ar_segments: String,
    /// Additional header fields of PTS-E 1.1 and 2.0.
    pub phases: Phases,
}

/// Phases of a test in the page header of PTS-E 1.1 and 2.0; missing phases are printed as `None` and `N/A`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phases {
    /// Pre Condition 1: workload, TC/QD and duration.
    pub pre_condition_1: [String; 3],
    /// Pre Condition 2: workload, TC/QD, and rounds or duration.
    pub pre_condition_2: [String; 3],
    /// Test Stimulus 1: workload, R/W mix, block sizes, TC/QD, and rounds or duration.
    pub stimulus_1: [String; 5],
    /// Test Stimulus 2: workload, TC/QD, and rounds or duration.
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
    /// Returns the fields that all tests have; `range` is the test loop's range.
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
            queue_depth: Some(settings.queue_depth),
            threads: Some(settings.threads),
            convergence: Convergence::NotSought,
            rounds: "N/A".into(),
            length: None,
            pc_ar: format!("{}%", settings.precondition_range_percent),
            test_ar: format!("{}%", settings.test_range_percent),
            ar_amount,
            ar_segments,
            phases: Phases::default(),
        }
    }

    /// PC AR, Test AR, AR Amount and AR Segments.
    #[must_use]
    pub fn active_range(&self) -> [String; 4] {
        [&self.pc_ar, &self.test_ar, &self.ar_amount, &self.ar_segments].map(Clone::clone)
    }

    /// Formats the rounds of the window for page headers of PTS-E 1.1 and 2.0, such as `1-5` or `21-25 (NOT
    /// ACHIEVED)`.
    pub(crate) fn steady_rounds(&self) -> String {
        let missed = if self.convergence == Convergence::NotReached { " (NOT ACHIEVED)" } else { "" };
        format!("{}{missed}", self.rounds)
    }

    /// Adds the steady-state verdict of a round-based test.
    pub(crate) fn judged(self, converged: bool, complete: bool, window: Option<&WindowStats>) -> Self {
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

/// Formats a duration for page headers, such as `20 Minutes`.
pub(crate) fn titled(length: &str) -> String {
    length.replace("minutes", "Minutes")
}
