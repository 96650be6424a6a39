//! The first page: device, machine, software, dates, all tests, special notes.

use super::frame::{banners, facts, set_up_table, sheet, summary_top};
use super::notes;
use crate::Document;
use crate::content::{self, SUMMARY_KIND};
use crate::notes::NoteRow;
use crate::pages::Place;

/// The all-tests summary; `continued` when its notes go on on the next sheet.
pub(super) fn page(document: &Document, rows: &[NoteRow], continued: bool, place: Place) -> String {
    let blocks: String = content::blocks(document)
        .iter()
        .map(|(heading, items)| format!("<div><h3>{heading}</h3>{}</div>\n", facts("block", items)))
        .collect();
    let table = if continued && rows.is_empty() { String::new() } else { notes::table(rows) };
    let body = format!(
        "{}<div class=\"blocks\">{blocks}</div>\n<h2>Testing Summary: Tests Run</h2>\n{}\
         <h2>Test Sponsor - Special Notes</h2>\n{table}{}{}",
        summary_top(document, place, SUMMARY_KIND),
        set_up_table(document, &document.outcomes, &document.not_begun),
        go_on(continued, place),
        facts("origin", &content::origin(document))
    );
    sheet(document, place, "summary", &banners(document, None), &body)
}

/// A sheet of special notes that did not fit on the one before.
pub(super) fn notes_page(document: &Document, rows: &[NoteRow], continued: bool, place: Place) -> String {
    let body = format!(
        "{}<h2>Test Sponsor - Special Notes, continued</h2>\n{}{}",
        summary_top(document, place, SUMMARY_KIND),
        notes::table(rows),
        go_on(continued, place)
    );
    sheet(document, place, "summary", &banners(document, None), &body)
}

fn go_on(continued: bool, place: Place) -> String {
    if continued {
        format!("<p class=\"remark\">Continued on page {}.</p>\n", place.number + 1)
    } else {
        String::new()
    }
}
