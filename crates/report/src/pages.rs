//! Which pages a report has, in order: the same for HTML and PDF.

use pts::Outcome;

use crate::Document;
use crate::notes::{NoteRow, sheets_of_notes};

/// Where a page stands in the bundle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub number: usize,
    pub total: usize,
}

/// A page and what it needs to know.
#[derive(Debug, Clone)]
pub(crate) enum PageKind<'a> {
    /// All tests; `continued` when its notes go on on the next sheet.
    Summary { notes: Vec<NoteRow>, continued: bool },
    /// Special notes that did not fit on the sheet before.
    Notes { notes: Vec<NoteRow>, continued: bool },
    /// The summary of one test.
    TestSummary(&'a Outcome),
    /// A report page of a test, by index.
    Exhibits(&'a Outcome, usize),
}

/// The pages of `document`.
pub(crate) fn pages(document: &Document) -> Vec<PageKind<'_>> {
    let sheets = sheets_of_notes(document);
    let last = sheets.len() - 1;
    let mut all: Vec<PageKind<'_>> = sheets
        .into_iter()
        .enumerate()
        .map(|(index, notes)| match index {
            0 => PageKind::Summary { notes, continued: last > 0 },
            _ => PageKind::Notes { notes, continued: index < last },
        })
        .collect();
    for outcome in &document.outcomes {
        all.push(PageKind::TestSummary(outcome));
        all.extend((0..outcome.pages.len()).map(|index| PageKind::Exhibits(outcome, index)));
    }
    all
}
