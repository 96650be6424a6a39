//! The report as a self-contained HTML file.

mod annex;
mod exhibits;
mod frame;
mod notes;
mod summary;
mod test_summary;

pub(crate) use annex::STATEMENT_REMARK;

use crate::Document;
use crate::content;
use crate::markup::escape;
use crate::pages::{PageKind, Place, pages};
use crate::shell::Shell;

const STYLE: &str = include_str!("page/style.css");
/// Optional conveniences: the page is complete without the script.
const SCRIPT: &str = include_str!("page/script.js");

/// The whole report: a summary of all tests, then each test with its summary and report pages.
#[must_use]
pub fn html(document: &Document) -> String {
    let all = pages(document);
    let (mut sheets, mut contents) = (String::new(), String::new());
    for (index, kind) in all.iter().enumerate() {
        let place = Place { number: index + 1, total: all.len() };
        sheets.push_str(&match kind {
            PageKind::Summary { notes, continued } => summary::page(document, notes, *continued, place),
            PageKind::TestSummary(outcome) => test_summary::page(document, outcome, place),
            PageKind::Exhibits(outcome, index) => exhibits::page(document, outcome, *index, place),
        });
        contents.push_str(&match kind {
            PageKind::Summary { .. } => link(place.number, "Summary of all tests", false),
            PageKind::TestSummary(outcome) => link(place.number, &content::numbered(outcome), false),
            PageKind::Exhibits(outcome, index) => link(place.number, &outcome.pages[*index].title, true),
        });
    }
    sheets.push_str(&annex::annex(document));
    contents.push_str(&annex::links(document));
    let class = document.watermark().map(str::to_ascii_lowercase).unwrap_or_default();
    let content = format!(
        "<nav aria-label=\"Pages\"><h2>Plateau</h2><ol>\n{contents}</ol></nav>\n<main>\n{sheets}</main>\n"
    );
    Shell {
        title: &content::document_title(document),
        style: STYLE,
        class: &class,
        content: &content,
        script: Some(SCRIPT),
    }
    .html()
}

fn link(number: usize, title: &str, inner: bool) -> String {
    let class = if inner { " class=\"inner\"" } else { "" };
    format!("<li{class}><a href=\"#page-{number}\"><span>{}</span><b>{number}</b></a></li>\n", escape(title))
}
