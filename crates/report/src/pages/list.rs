//! The pages of a report, in order.

use pts::Outcome;

use super::notes::{NoteRow, notes_of_run};
use crate::document::contents::Document;

/// Position of a page in the report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageNumber {
    pub current: usize,
    pub total: usize,
}

/// A page with its data.
#[derive(Debug, Clone)]
pub(crate) enum PageKind<'a> {
    /// All tests. `continued` is set if the notes continue in an annex, which does not change the page numbers.
    Summary { notes: Vec<NoteRow>, continued: bool },
    /// The summary of one test.
    TestSummary(&'a Outcome),
    /// A report page of a test, by index.
    Exhibits(&'a Outcome, usize),
}

/// Returns the pages of `document`.
pub(crate) fn pages(document: &Document) -> Vec<PageKind<'_>> {
    let (notes, further) = notes_of_run(document);
    let mut all = vec![PageKind::Summary { notes, continued: !further.is_empty() }];
    for outcome in &document.outcomes {
        all.push(PageKind::TestSummary(outcome));
        all.extend((0..outcome.pages.len()).map(|index| PageKind::Exhibits(outcome, index)));
    }
    all
}
