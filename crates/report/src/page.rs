//! The report as one HTML file that needs nothing else.

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
use crate::publication::base64;

const STYLE: &str = include_str!("page/style.css");
/// Conveniences: the page says the same without it.
const SCRIPT: &str = include_str!("page/script.js");

/// The whole report: summary of all tests, then for each test its summary and its report pages.
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
    let marked = document.watermark().map(|word| format!(" class=\"{}\"", word.to_ascii_lowercase()));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"Plateau\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body{}>\n<nav aria-label=\"Pages\"><h2>Plateau</h2><ol>\n{contents}</ol></nav>\n<main>\n{sheets}</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        fingerprint(SCRIPT),
        escape(&content::document_title(document)),
        marked.unwrap_or_default(),
    )
}

/// What lets a browser run this script and no other: `sha256-...`.
fn fingerprint(script: &str) -> String {
    let hex = record::Digest::of(script.as_bytes()).to_string();
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or_default();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    format!("sha256-{}", base64(&bytes))
}

fn link(number: usize, title: &str, inner: bool) -> String {
    let class = if inner { " class=\"inner\"" } else { "" };
    format!("<li{class}><a href=\"#page-{number}\"><span>{}</span><b>{number}</b></a></li>\n", escape(title))
}
