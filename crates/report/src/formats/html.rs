//! The report as one self-contained HTML file. Each module lays out one kind of page, and takes the text from
//! `pages`.

mod annex;
mod cover;
mod exhibits;
mod frame;
mod notes;
pub(crate) mod shell;
mod summary;
mod test_summary;

use super::format::{Format, Make};
use crate::document::contents::Document;
use crate::pages::list::{PageKind, PageNumber, pages};
use crate::pages::{cover as cover_text, titles};
use charts::markup::escape;
use shell::Shell;

/// The HTML format.
pub(super) const FORMAT: Format = Format {
    name: "html",
    about: "the report as one self-contained HTML file [default: report.html in the run's directory]",
    extensions: &["html", "htm"],
    make: Make::File(|source| Ok(html(source.document).into_bytes())),
};

const STYLE: &str = include_str!("html/style.css");
/// The script adds only conveniences: the page is complete without it.
const SCRIPT: &str = concat!(include_str!("html/script.js"), include_str!("html/zoom.js"));

/// What a server adds to a report or a comparison: its navigation and its forms.
#[derive(Debug, Clone, Copy, Default)]
pub struct Around<'a> {
    /// Style of the additions.
    pub style: &'a str,
    /// Markup before the report.
    pub before: &'a str,
    /// Markup after the report.
    pub after: &'a str,
}

/// Returns the whole report: the cover, a summary of all tests, then each test with its summary and report
/// pages.
#[must_use]
pub fn html(document: &Document) -> String {
    html_within(document, Around::default())
}

/// Returns the whole report with the additions of a server.
#[must_use]
pub fn html_within(document: &Document, around: Around<'_>) -> String {
    let all = pages(document);
    let mut sheets = cover::page(document);
    let mut contents =
        format!("<li><a href=\"#{}\"><span>{}</span></a></li>\n", cover::ADDRESS, cover_text::TITLE);
    for (index, kind) in all.iter().enumerate() {
        let number = PageNumber { current: index + 1, total: all.len() };
        sheets.push_str(&match kind {
            PageKind::Summary { notes, continued } => summary::page(document, notes, *continued, number),
            PageKind::TestSummary(outcome) => test_summary::page(document, outcome, number),
            PageKind::Exhibits(outcome, index) => exhibits::page(document, outcome, *index, number),
        });
        contents.push_str(&match kind {
            PageKind::Summary { .. } => link(number.current, titles::ALL_TESTS, false),
            PageKind::TestSummary(outcome) => link(number.current, &titles::numbered(outcome), false),
            PageKind::Exhibits(outcome, index) => link(number.current, &outcome.pages[*index].title, true),
        });
    }
    sheets.push_str(&annex::annex(document));
    contents.push_str(&annex::links(document));
    let class = document.watermark().map(str::to_ascii_lowercase).unwrap_or_default();
    let Around { style, before, after } = around;
    let content = format!(
        "{before}<nav aria-label=\"Pages\"><details><summary>Pages</summary><ol>\n{contents}</ol></details></nav>\n<main>\n{sheets}</main>\n{after}"
    );
    Shell {
        title: &titles::document_title(document),
        style: &format!("{STYLE}{style}"),
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
