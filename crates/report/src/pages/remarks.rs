//! Remarks below pages, and an explanation of the mark on host-limited numbers.

use pts::Outcome;
use pts::exhibit::{Exhibit, Page};
use pts::host_limit::legend;

use super::cells::has_marks;
use crate::facts::host_limit::chart_remark;

/// Explains the host-limit mark if a key figure or tracking variable has it.
pub(crate) fn figures_legend(outcome: &Outcome) -> Option<String> {
    let has_mark = outcome.key_figures.iter().any(|f| f.value.is_some() && f.host_limited)
        || outcome.window.iter().any(|(_, window)| window.host_limited);
    has_mark.then(legend)
}

/// Returns the remarks below a page: the page's own remarks, explanations of marks, and a note on host-limited
/// charts.
pub(crate) fn remarks(outcome: &Outcome, page: &Page) -> Vec<String> {
    let mut remarks = page.remarks.clone();
    remarks.extend(has_marks(page).then(legend));
    remarks.extend(host_limited_chart(outcome, page).map(chart_remark));
    remarks
}

/// For a page with a chart, returns the number of host-limited cells in its test, if any.
#[must_use]
pub fn host_limited_chart<'a>(outcome: &'a Outcome, page: &Page) -> Option<&'a str> {
    let is_chart = |e: &Exhibit| !matches!(e, Exhibit::Table(_) | Exhibit::Facts(_));
    outcome.host_limited.as_deref().filter(|_| page.exhibits.iter().any(is_chart))
}
