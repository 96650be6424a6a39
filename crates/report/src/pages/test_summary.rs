//! The summary of a test: set-up, purpose, key figures, steady state.

use pts::host_limit::marked;
use pts::{Convergence, KeyFigure, Outcome};
use record::MarkKind;
use stdx::units::grouped;

use super::values::{Fact, number, or_na};
use crate::document::contents::Document;
use crate::facts::figures::Figure;

/// Headings of the test table, with the number of columns that each heading spans.
pub(crate) const SET_UP_HEADINGS: [(&str, &[&str]); 8] = [
    ("", &[]),
    ("TEST", &[]),
    ("Purge", &[]),
    ("DP", &[]),
    ("OIO", &[]),
    ("WIPC", &["PC AR", "TEST AR"]),
    ("WDPC", &["AR AMT", "SEGMENTS"]),
    ("STEADY STATE", &["WORKLOAD", "ROUNDS OR TIME", "CONVERGENCE"]),
];

/// Returns a test's row in the table of tests.
pub(crate) fn set_up_row(outcome: &Outcome) -> [String; 12] {
    let h = &outcome.header;
    [
        outcome.clause.unwrap_or_default().to_owned(),
        format!("{} - {}", outcome.title, h.requirement),
        h.purge.clone(),
        h.data_pattern.clone(),
        demand(h),
        h.pc_ar.clone(),
        h.test_ar.clone(),
        h.ar_amount.clone(),
        h.ar_segments.clone(),
        h.workload_dependent.clone(),
        rounds(h),
        h.convergence.to_string(),
    ]
    .map(|cell| or_na(Some(&cell)))
}

/// Describes the rounds of the window or, if the test ends after a given time or amount, its length.
fn rounds(header: &pts::TestHeader) -> String {
    match (header.convergence, &header.length) {
        (_, None) => header.rounds.clone(),
        (Convergence::NotSought, Some(length)) => length.clone(),
        (_, Some(length)) => format!("{}, {length}", header.rounds),
    }
}

/// Returns the threads and queue depth; imported tests may lack them.
fn demand(header: &pts::TestHeader) -> String {
    match (header.threads, header.queue_depth) {
        (None, None) => pts::ABSENT.into(),
        (threads, depth) => format!("TC {} QD {}", number(threads), number(depth)),
    }
}

/// Returns the purpose and outline of a test.
pub(crate) fn description(outcome: &Outcome) -> [Fact; 3] {
    let header = &outcome.header;
    [
        ("Purpose", or_na(Some(&outcome.purpose))),
        ("Test Outline", or_na(Some(&outcome.outline))),
        (
            "Preconditioning",
            format!(
                "workload independent: {}; workload dependent: {}",
                header.workload_independent.as_deref().unwrap_or("None"),
                header.workload_dependent
            ),
        ),
    ]
}

/// Returns whether the results of a test are valid: it is complete, reached steady state if it has to, and the
/// drive was not rejected. All formats show invalid results in a different style.
pub(crate) fn has_valid_results(outcome: &Outcome) -> bool {
    let is_rejected = outcome.acceptance.as_ref().is_some_and(|acceptance| !acceptance.is_pass());
    !is_rejected && outcome.stop.is_none() && outcome.converged != Some(false)
}

/// Returns whether a key figure is a valid result.
pub(crate) fn is_valid(outcome: &Outcome, figure: &KeyFigure) -> bool {
    figure.value.is_some_and(f64::is_finite) && has_valid_results(outcome)
}

/// Returns whether a figure in a comparison is a valid result. This depends only on the test to which the figure
/// belongs and on what an imported file says about all of its results. If a test evaluates two loops, its figures
/// come from the second one, which begins with the drive as the first one left it: both must be steady.
#[must_use]
pub fn is_valid_figure(document: &Document, figure: &Figure) -> bool {
    let is_invalid = |kind| matches!(kind, MarkKind::NotAchieved | MarkKind::NotComplete);
    let is_stated =
        document.run.origin.iter().flat_map(|origin| &origin.marks).any(|mark| is_invalid(mark.mark));
    // Figures of the whole run, such as the idle power, have no test.
    let of_test = document.outcomes.iter().find(|outcome| outcome.test == figure.test);
    !is_stated && of_test.is_none_or(has_valid_results)
}

/// Returns a key figure as printed.
pub(crate) fn figure_value(figure: &KeyFigure) -> String {
    let value = figure.value.filter(|v| v.is_finite());
    value.map_or_else(
        || figure.absent.to_owned(),
        |value| marked(grouped(value, figure.decimals), figure.host_limited),
    )
}

/// Headings of the tracking variable table.
pub(crate) const STEADY_HEADINGS: [&str; 7] = [
    "Tracking variable",
    "Rounds",
    "Average",
    "Data excursion (allowed 20 %)",
    "Slope excursion (allowed 10 %)",
    "Linear fit",
    "Steady",
];

/// Returns the steady-state criteria of the window, one row per tracking variable.
pub(crate) fn steady_rows(outcome: &Outcome) -> Vec<[String; 7]> {
    let row = |(name, s): &(String, pts::steady::WindowStats)| {
        let share =
            |part: f64| if s.mean > 0.0 { format!("{:.1} %", part / s.mean * 100.0) } else { "n/a".into() };
        [
            or_na(Some(name)),
            format!("{}-{}", s.first_round, s.last_round),
            // Milliseconds need more decimals than IOPS.
            marked(grouped(s.mean, if s.mean.abs() < 10.0 { 3 } else { 1 }), s.host_limited),
            share(s.range),
            share(s.slope_excursion),
            s.formula(),
            if s.steady { "YES" } else { "NO" }.to_owned(),
        ]
    };
    outcome.window.iter().map(row).collect()
}
