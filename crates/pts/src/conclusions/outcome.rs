//! The conclusions of a test: everything that reports, terminals and comparisons show about it.

use stdx::units::count_of;

use crate::DemandSweep;
use crate::conclusions::acceptance::Acceptance;
use crate::conclusions::ending::Ending;
use crate::conclusions::judged_loop::JudgedLoop;
use crate::conclusions::mark::Mark;
use crate::exhibits::exhibit::Page;
use crate::exhibits::unit::Unit;
use crate::method::explain::Explanation;
use crate::method::steady::WindowStats;
use crate::{Deviation, Stop, TestHeader};

/// The result of one test, complete or interrupted.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Name of the test, as in `plateau run NAME`.
    pub test: String,
    /// Title on pages, such as `IOPS`.
    pub title: String,
    /// The title without a block size, used in the names of figures when runs are compared, such as `Throughput`.
    pub subject: String,
    /// Clause printed on reports, such as `8.0`; None if the profile does not list the test.
    pub clause: Option<&'static str>,
    /// Purpose of the test, in one sentence.
    pub purpose: String,
    /// Outline of the test, in one sentence.
    pub outline: String,
    /// Fields of the page header.
    pub header: TestHeader,
    /// Number of completed rounds.
    pub rounds: u32,
    /// Whether steady state was reached; None if the test is incomplete or does not require steady state.
    pub converged: Option<bool>,
    /// How the test ended; None if its length is fixed or it has no end conditions other than steady state and the
    /// round limit.
    pub ending: Option<Ending>,
    /// Whether the drive is accepted; None if the test does not decide this, or has not yet done so.
    pub acceptance: Option<Acceptance>,
    /// Marks on the test's curve, which the tester may set.
    pub marks: Vec<Mark>,
    /// The windows on which the verdict is based, one per tracking variable; empty until five rounds are
    /// complete.
    pub window: Vec<(String, WindowStats)>,
    /// Unit of the tracking variables; None if the test has none.
    pub tracked_unit: Option<Unit>,
    /// The evaluated round loops, in order. Results come from the last of them.
    pub loops: Vec<JudgedLoop>,
    /// Status of each tracking variable, with the reason if it is not steady.
    pub explained: Vec<Explanation>,
    /// Report pages in order.
    pub pages: Vec<Page>,
    /// Pages that the specification does not define. Annex B shows them.
    pub beyond: Vec<Page>,
    /// Rates by number of outstanding I/Os, for each workload.
    pub sweeps: Vec<DemandSweep>,
    /// Figures in the section "Select Performance Data".
    pub key_figures: Vec<KeyFigure>,
    /// Special notes: skipped steps, device errors and interruptions.
    pub notes: Vec<String>,
    /// Deviations from the profile that occurred in this run: purge method, gaps and skipped cells.
    pub modified: Vec<Deviation>,
    /// Number of cells that the host may have limited, such as `5 of 280 cells`; None if there are no such cells.
    pub host_limited: Option<String>,
    /// The reason why the test is incomplete; None if it is complete.
    pub stop: Option<Stop>,
}

impl Outcome {
    /// The rounds of the loops that did not reach steady state, such as `25 rounds of preconditioning`.
    #[must_use]
    pub fn missed_rounds(&self) -> String {
        let of = |name: &str| if name.is_empty() { String::new() } else { format!(" of {name}") };
        let missed = self.loops.iter().filter(|judged| !judged.converged);
        let each: Vec<String> =
            missed.map(|judged| format!("{}{}", count_of(judged.rounds, "round"), of(judged.name))).collect();
        if each.is_empty() { count_of(self.rounds, "round") } else { each.join(" and ") }
    }
}

/// One of the figures in large type on a summary page.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyFigure {
    /// Label, for example `RND 4KiB W`.
    pub name: String,
    /// Last part of the key in comparisons, if the name cannot be used for it because it contains results.
    pub key: Option<String>,
    /// Value; None if not measured.
    pub value: Option<f64>,
    /// Text printed if there is no value, such as `n/a`.
    pub absent: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Number of decimal places.
    pub decimals: usize,
    /// Whether a host-limited cell contributed to the value, so that it may reflect the host instead of the drive.
    pub host_limited: bool,
}
