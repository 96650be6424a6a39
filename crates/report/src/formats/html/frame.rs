//! Elements common to all pages: banners at the top, footer at the bottom, and shared parts.

use pts::Outcome;

use crate::document::contents::Document;
use crate::document::marks::MarkKind;
use crate::pages::banners::{Strip, strips};
use crate::pages::list::PageNumber;
use crate::pages::test_summary::{SET_UP_HEADINGS, set_up_row};
use crate::pages::titles;
use crate::pages::values::{Fact, company, model, or_na};
use charts::markup::{escape, escape_breakable, escape_running, shortened};

/// Opens the element in which a wide table scrolls, so that the page does not; with the focus, arrow keys scroll it.
pub(super) const SCROLLER: &str =
    "<div class=\"scroller\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">";

/// Returns a part of the header that repeats an earlier page; the script collapses it on narrow screens.
pub(super) fn folded(content: &str) -> String {
    format!("<details class=\"more\" open><summary>Device and settings</summary>{content}</details>\n")
}

/// Wraps `body` in a sheet.
pub(super) fn sheet(
    document: &Document,
    number: PageNumber,
    class: &str,
    banners: &str,
    body: &str,
) -> String {
    format!(
        "<section class=\"sheet {class}\" id=\"page-{}\">\n{banners}{body}<footer><span>{}</span>\
         <span>Page {} of {}</span></footer>\n</section>\n",
        number.current,
        escape(&titles::footer(document)),
        number.current,
        number.total
    )
}

/// Returns one strip per mark.
pub(super) fn banners(document: &Document, outcome: Option<&Outcome>) -> String {
    let strip = |Strip { kind, label, text }: Strip| {
        let class = match kind {
            MarkKind::Simulated | MarkKind::Imported => "sim",
            MarkKind::NotAchieved | MarkKind::NotComplete => "bad",
            MarkKind::Interrupted => "gap",
            MarkKind::Modified => "mod",
        };
        format!("<p class=\"mark {class}\"><b>{}</b> {}</p>\n", escape(label), escape_running(&text))
    };
    let all: String = strips(document, outcome).into_iter().map(strip).collect();
    format!("<div class=\"marks\">{all}</div>\n")
}

/// Returns a list of labelled values.
pub(super) fn facts(class: &str, items: &[(&str, String)]) -> String {
    let row = |(label, value): &(&str, String)| {
        format!("<dt>{}</dt><dd>{}</dd>", escape(label), escape_breakable(value))
    };
    format!("<dl class=\"{class}\">{}</dl>\n", items.iter().map(row).collect::<String>())
}

/// Returns the blocks of labelled values side by side.
pub(super) fn blocks(blocks: &[(&str, Vec<Fact>)]) -> String {
    let block = |(heading, items): &(&str, Vec<Fact>)| {
        format!("<div><h2>{heading}</h2>{}</div>\n", facts("block", items))
    };
    format!("<div class=\"blocks\">{}</div>\n", blocks.iter().map(block).collect::<String>())
}

/// Returns the strip at the top of both kinds of summary page.
pub(super) fn summary_top(document: &Document, number: PageNumber, kind: &str) -> String {
    format!(
        "<header class=\"strip\"><div class=\"bar\"><span>{}</span>\
         <span>{}</span><span>Page {} of {}</span></div>\n\
         <div class=\"dut\"><div><small>Device Under Test (DUT)</small><b>{}</b></div>\
         <h1>{}</h1><div><small>Vendor</small><b>{}</b></div>\
         <div><small>Tested by</small><b>{}</b></div>{}</div></header>\n",
        titles::specification_short(document),
        titles::revision(document),
        number.current,
        number.total,
        escape(model(document)),
        escape(kind),
        escape(&or_na(document.run.target.vendor.as_deref())),
        escape(&shortened(&company(document), 40)),
        logo(document)
    )
}

fn logo(document: &Document) -> String {
    let Some(logo) = &document.publication.logo else { return String::new() };
    let sponsor = or_na(document.publication.sponsor.as_deref());
    format!("<img class=\"logo\" alt=\"{}\" src=\"{}\">", escape(&sponsor), logo.data_address())
}

/// Returns the table of tests: first `outcomes`, then the titles of tests that were not started.
pub(super) fn set_up_table(document: &Document, outcomes: &[Outcome], not_begun: &[String]) -> String {
    let row = |cells: [String; 12]| {
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape_running(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let mut rows: String = outcomes.iter().map(|outcome| row(set_up_row(outcome))).collect();
    for title in not_begun {
        let mut cells = [(); 12].map(|()| "-".to_owned());
        cells[1] = format!("{title} - not started");
        rows.push_str(&row(cells));
    }
    if rows.is_empty() {
        rows.push_str("<tr><td colspan=\"12\">No test was started.</td></tr>\n");
    }
    let series = titles::series(document);
    let above: String = SET_UP_HEADINGS
        .iter()
        .map(|(title, inner)| match inner.len() {
            0 => format!("<th rowspan=\"2\">{}</th>", if title.is_empty() { series } else { title }),
            columns => format!("<th colspan=\"{columns}\">{title}</th>"),
        })
        .collect();
    let below: String = SET_UP_HEADINGS
        .iter()
        .flat_map(|(_, inner)| *inner)
        .map(|title| format!("<th>{title}</th>"))
        .collect();
    format!(
        "<p class=\"remark sideways\">Scroll sideways to see all columns.</p>\n{SCROLLER}<table class=\"setup\"><thead><tr>{above}</tr>\n<tr>{below}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
    )
}
