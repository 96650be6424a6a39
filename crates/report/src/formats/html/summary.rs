//! The first page: device, host, software, dates, all tests, special notes.

use super::frame::{banners, blocks, facts, set_up_table, sheet, summary_top};
use super::notes;
use crate::document::contents::Document;
use crate::pages::list::PageNumber;
use crate::pages::notes::NoteRow;
use crate::pages::{annexes, front, titles};

/// Returns the summary of all tests. `continued` is set if the notes continue in an annex.
pub(super) fn page(document: &Document, rows: &[NoteRow], continued: bool, number: PageNumber) -> String {
    let table = if continued && rows.is_empty() { String::new() } else { notes::table(rows) };
    let body = format!(
        "{}{}<h2>Testing Summary: Tests Run</h2>\n{}\
         <h2>Test Sponsor - Special Notes</h2>\n{table}{}{}",
        summary_top(document, number, titles::summary_kind(document)),
        blocks(&front::blocks(document)),
        set_up_table(document, &document.outcomes, &document.not_begun),
        if continued { continuation(rows.is_empty()) } else { String::new() },
        facts("origin", &front::origin(document))
    );
    sheet(document, number, "summary", &banners(document, None), &body)
}

fn continuation(is_whole: bool) -> String {
    format!("<p class=\"remark\">{}</p>\n", annexes::continuation(is_whole))
}
