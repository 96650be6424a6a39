//! The report as one HTML file that needs nothing else.

mod exhibits;
mod frame;
mod notes;
mod summary;
mod test_summary;

use pts::Outcome;

use crate::Document;
use crate::markup::escape;
use frame::Place;

const STYLE: &str = include_str!("page/style.css");

/// The whole report: summary of all tests, then for each test its summary and its report pages.
#[must_use]
pub fn html(document: &Document) -> String {
    let sheets_of_notes = summary::sheets_of_notes(document);
    let inner = document.outcomes.iter().map(|outcome| 1 + outcome.pages.len()).sum::<usize>();
    let total = sheets_of_notes.len() + inner;
    let mut pages = Vec::with_capacity(total);
    let mut contents = vec![link(1, "Summary of all tests", false)];
    for (index, rows) in sheets_of_notes.iter().enumerate() {
        let place = Place { number: index + 1, total };
        let page = if index == 0 { summary::page } else { summary::notes_page };
        pages.push(page(document, rows, place.number < sheets_of_notes.len(), place));
    }
    for outcome in &document.outcomes {
        let number = pages.len() + 1;
        contents.push(link(number, &format!("{} {}", outcome.clause, outcome.title), false));
        pages.push(test_summary::page(document, outcome, Place { number, total }));
        for index in 0..outcome.pages.len() {
            let number = pages.len() + 1;
            contents.push(link(number, &outcome.pages[index].title, true));
            pages.push(exhibits::page(document, outcome, index, Place { number, total }));
        }
    }
    let simulated = document.run.target.simulated.is_some();
    let mark = if simulated { "SIMULATED - " } else { "" };
    let title = format!("{mark}{} - {} report", frame::model(document), document.profile.revision);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"Plateau\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body{}>\n<nav aria-label=\"Pages\"><h2>Plateau</h2><ol>\n{}</ol></nav>\n<main>\n{}</main>\n</body>\n</html>\n",
        escape(&title),
        if simulated { " class=\"simulated\"" } else { "" },
        contents.concat(),
        pages.concat()
    )
}

fn link(number: usize, title: &str, inner: bool) -> String {
    let class = if inner { " class=\"inner\"" } else { "" };
    format!("<li{class}><a href=\"#page-{number}\"><span>{}</span><b>{number}</b></a></li>\n", escape(title))
}

/// What the PTS calls the test on a title line: `Enterprise IOPS (REQUIRED) - Report Page`.
fn title_line(document: &Document, outcome: &Outcome, kind: &str) -> String {
    format!("{} {} ({}) - {kind}", document.profile.class, outcome.title, outcome.header.requirement)
}
