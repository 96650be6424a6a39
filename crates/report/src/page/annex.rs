//! Annexes after the report, clearly separated from it: the conformance statement, and data that the specification does
//! not require.

use super::frame::banners;
use crate::Document;
use crate::beyond::{Beyond, cells};
use crate::care::TextTable;
use crate::chart;
use crate::conformance::{Clause, Conformance, Verdict};
use crate::content;
use crate::markup::escape;
use crate::notes::notes_of_run;

/// Caveat that accompanies every statement.
pub(crate) const STATEMENT_REMARK: &str = "Plateau follows published reports and implementations of the \
                                           specification, whose full text is not public.";

/// Everything after the last page.
pub(super) fn annex(document: &Document) -> String {
    let (_, further) = notes_of_run(document);
    let notes = match further.as_slice() {
        [] => String::new(),
        rows => format!(
            "<article class=\"sheet annex\" id=\"page-n\">\n{}<h2>Annex N: special notes, continued from page 1</h2>\n{}</article>\n",
            banners(document, None),
            super::notes::table(rows)
        ),
    };
    notes + &statement_and_beyond(document)
}

/// Empty without tests, and for imported runs.
fn statement_and_beyond(document: &Document) -> String {
    if document.conformance.is_empty() {
        return String::new();
    }
    let marks = banners(document, None);
    let statement: String = document.conformance.iter().map(of_test).collect();
    let beyond: String = document.beyond.iter().map(|test| beyond(document, test)).collect();
    let care: String = document.care.iter().map(text_table).collect();
    format!(
        "<article class=\"sheet annex\" id=\"page-a\">\n{marks}<h2>Annex A: conformance \
         statement</h2>\n<p>What {} requires, what was done, and the journal records that show it. \
         {STATEMENT_REMARK}</p>\n{statement}</article>\n<article class=\"sheet annex\" \
         id=\"page-b\">\n{marks}<h2>Annex B: beyond the standard</h2>\n<p>Nothing here is required by {}, \
         and nothing here affects a verdict.</p>\n{beyond}{care}</article>\n",
        document.profile.revision, document.profile.revision
    )
}

fn text_table(table: &TextTable) -> String {
    let heads: String = table.head.iter().map(|(name, _)| format!("<th scope=\"col\">{name}</th>")).collect();
    let row = |cells: &Vec<String>| {
        let cell = |text: &String| format!("<td>{}</td>", escape(text));
        format!("<tr>{}</tr>\n", cells.iter().map(cell).collect::<String>())
    };
    let rows: String = table.rows.iter().map(row).collect();
    format!(
        "<h3>{}</h3>\n<table class=\"clauses\"><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>\n",
        table.caption
    )
}

fn of_test(conformance: &Conformance) -> String {
    let rows: String = conformance.clauses.iter().map(row).collect();
    format!(
        "<h3>{}: <span class=\"verdict {}\">{}</span></h3>\n<table class=\"clauses\"><thead><tr><th scope=\"col\">Clause</th>\
         <th scope=\"col\">Required</th><th scope=\"col\">Done</th><th scope=\"col\">Verdict</th>\
         <th scope=\"col\">Journal records</th></tr></thead>\n<tbody>{rows}</tbody></table>\n",
        escape(&conformance.title),
        class(Some(conformance.verdict)),
        conformance.verdict.words()
    )
}

fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Conforms) => "good",
        Some(Verdict::Modified) => "mod",
        Some(Verdict::DoesNotConform) => "bad",
        None => "open",
    }
}

fn row(clause: &Clause) -> String {
    let records = match clause.records.as_slice() {
        [] => "-".to_owned(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
    };
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"verdict {}\">{}</td><td>{records}</td></tr>\n",
        escape(&clause.clause),
        escape(&clause.required),
        escape(&clause.done),
        class(clause.verdict),
        clause.verdict.map_or("not recorded", Verdict::words)
    )
}

fn beyond(document: &Document, test: &Beyond) -> String {
    let title = escape(&test.title);
    let mut out = format!("<h3>{title}</h3>\n");
    if let Some(spent) = &test.spent {
        out += &format!("<p>{}.</p>\n", escape(spent));
    }
    let name = format!("{}: IOPS, response times and health over the whole test", test.title);
    out += &format!("<figure>{}</figure>\n", chart::timeline(&test.timeline, &name));
    out += &format!("<p class=\"remark\">{}</p>\n", escape(&test.remark));
    out + &percentiles(document, test)
}

/// Response times of the measured cells over the window, reads and writes combined.
fn percentiles(document: &Document, test: &Beyond) -> String {
    let Some(table) = cells::table(&test.cells, document.run.scale_divisor() > 1) else {
        return String::new();
    };
    let head = |(i, head): (usize, &String)| {
        let class = if i == 0 { "" } else { " class=\"n\"" };
        format!("<th scope=\"col\"{class}>{}</th>", escape(head))
    };
    let row = |cells: &Vec<String>| {
        let figures: String =
            cells[1..].iter().map(|cell| format!("<td class=\"n\">{}</td>", escape(cell))).collect();
        format!("<tr><th scope=\"row\">{}</th>{figures}</tr>\n", escape(&cells[0]))
    };
    format!(
        "<table class=\"percentiles\"><caption>Response times in ms; {}</caption><thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table>\n",
        escape(&table.caption),
        table.heads.iter().enumerate().map(head).collect::<String>(),
        table.rows.iter().map(row).collect::<String>()
    )
}

/// Links to the annexes in the list of pages.
pub(super) fn links(document: &Document) -> String {
    let (_, further) = notes_of_run(document);
    let notes = if further.is_empty() {
        ""
    } else {
        "<li><a href=\"#page-n\"><span>Special notes, continued</span><b>N</b></a></li>\n"
    };
    if document.conformance.is_empty() {
        return notes.to_owned();
    }
    let worst = document.conformance.iter().map(|c| c.verdict).max().unwrap_or(Verdict::Conforms);
    format!(
        "{notes}<li><a href=\"#page-a\"><span>Conformance: {}</span><b>A</b></a></li>\n\
         <li><a href=\"#page-b\"><span>Beyond the standard</span><b>B</b></a></li>\n",
        content::or_na(Some(worst.words()))
    )
}
