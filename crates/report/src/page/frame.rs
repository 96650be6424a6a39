//! What every page has: banners above, footer below, and the parts that pages share.

use pts::Outcome;

use crate::Document;
use crate::document::{MarkKind, date};
use crate::markup::escape;

/// Where a page stands in the bundle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub number: usize,
    pub total: usize,
}

/// Characters of a long list that a banner names, or the plot below gets too little room.
const NAMED_CHARACTERS: usize = 130;

/// A sheet around `body`.
pub(super) fn sheet(document: &Document, place: Place, class: &str, banners: &str, body: &str) -> String {
    format!(
        "<section class=\"sheet {class}\" id=\"page-{}\">\n{banners}{body}{}</section>\n",
        place.number,
        footer(document, place)
    )
}

/// One strip per mark; long lists are in full in the special notes of page 1.
pub(super) fn banners(document: &Document, outcome: Option<&Outcome>) -> String {
    let strip = |mark: crate::document::Mark| {
        let class = match mark.kind {
            MarkKind::Simulated => "sim",
            MarkKind::NotAchieved | MarkKind::NotComplete => "bad",
            MarkKind::Interrupted => "gap",
            MarkKind::Modified => "mod",
        };
        let text = in_short(&mark.details);
        let label = if mark.kind == MarkKind::Modified { "modified:" } else { mark.title.as_str() };
        format!("<p class=\"mark {class}\"><b>{label}</b> {}</p>\n", escape(&text))
    };
    format!(
        "<div class=\"marks\">{}</div>\n",
        document.marks(outcome).into_iter().map(strip).collect::<String>()
    )
}

fn in_short(details: &[String]) -> String {
    let mut named = details.len();
    while named > 1
        && details[..named].iter().map(|d| d.chars().count() + 2).sum::<usize>() > NAMED_CHARACTERS
    {
        named -= 1;
    }
    let text = crate::markup::shortened(&details[..named].join("; "), NAMED_CHARACTERS + 10);
    match details.len() - named {
        0 => text,
        more => format!("{text}; and {more} more: see Special Notes, page 1"),
    }
}

fn footer(document: &Document, place: Place) -> String {
    format!(
        "<footer><span>Plateau {} &middot; run {} &middot; journal SHA-256 {}…</span><span>Page {} of {}</span></footer>\n",
        escape(&document.run.plateau_version),
        escape(&document.run.id),
        document.digest.get(..16).unwrap_or(&document.digest),
        place.number,
        place.total
    )
}

/// The model as printed; a file or simulated drive without one has its path.
pub(super) fn model(document: &Document) -> &str {
    document.run.target.model.as_deref().filter(|m| !m.trim().is_empty()).unwrap_or(&document.run.target.path)
}

/// A fact that may be missing, escaped; a page has no empty box.
pub(super) fn or_na(fact: Option<&str>) -> String {
    escape(fact.map(str::trim).filter(|fact| !fact.is_empty()).unwrap_or("n/a"))
}

/// Date of the test run as printed.
pub(super) fn test_run_date(document: &Document) -> String {
    date(document.test_run_date)
}

/// Date of the report as printed.
pub(super) fn report_run_date(document: &Document) -> String {
    date(document.report_run_date)
}

/// A list of labels and values, both already escaped.
pub(super) fn facts(class: &str, items: &[(&str, String)]) -> String {
    let rows: String =
        items.iter().map(|(label, value)| format!("<dt>{label}</dt><dd>{value}</dd>")).collect();
    format!("<dl class=\"{class}\">{rows}</dl>\n")
}

/// The strip on top of both kinds of summary pages.
pub(super) fn summary_top(document: &Document, place: Place, kind: &str) -> String {
    format!(
        "<header class=\"strip\"><div class=\"bar\"><span>SNIA Solid State Storage Performance Test Specification (PTS)</span>\
         <span>Rev. {}</span><span>Page {} of {}</span></div>\n\
         <div class=\"dut\"><div><small>Device Under Test (DUT)</small><b>{}</b></div>\
         <h1>{}</h1><div><small>Vendor</small><b>{}</b></div></div></header>\n",
        document.profile.revision,
        place.number,
        place.total,
        escape(model(document)),
        escape(kind),
        or_na(document.run.target.vendor.as_deref())
    )
}

/// The row of a test in the table of tests.
fn set_up_row(outcome: &Outcome) -> String {
    let h = &outcome.header;
    let cells = [
        outcome.clause.to_owned(),
        format!("{} - {}", outcome.title, h.requirement),
        h.purge.clone(),
        h.data_pattern.clone(),
        format!("TC {} QD {}", h.threads, h.queue_depth),
        h.pc_ar.clone(),
        h.test_ar.clone(),
        h.ar_amount.clone(),
        h.ar_segments.clone(),
        h.workload_dependent.clone(),
        h.rounds.clone(),
        h.convergence.clone(),
    ];
    let cells: String = cells.iter().map(|c| format!("<td>{}</td>", or_na(Some(c)))).collect();
    format!("<tr>{cells}</tr>\n")
}

/// The table of tests: `outcomes`, then the titles of those not begun.
pub(super) fn set_up_table(document: &Document, outcomes: &[Outcome], not_begun: &[String]) -> String {
    let series = document.profile.revision.split(' ').next().unwrap_or_default();
    let mut rows: String = outcomes.iter().map(set_up_row).collect();
    for title in not_begun {
        rows.push_str(&format!(
            "<tr><td>-</td><td>{} - not begun</td>{}</tr>\n",
            escape(title),
            "<td>-</td>".repeat(10)
        ));
    }
    if rows.is_empty() {
        rows.push_str("<tr><td colspan=\"12\">No test was begun.</td></tr>\n");
    }
    format!(
        "<table class=\"setup\"><thead><tr><th rowspan=\"2\">{series}</th><th rowspan=\"2\">TEST</th>\
         <th rowspan=\"2\">Purge</th><th rowspan=\"2\">DP</th><th rowspan=\"2\">OIO</th><th colspan=\"2\">WIPC</th>\
         <th colspan=\"2\">WDPC</th><th colspan=\"3\">STEADY STATE</th></tr>\n<tr><th>PC AR</th><th>TEST AR</th>\
         <th>AR AMT</th><th>SEGMENTS</th><th>WORKLOAD</th><th>ROUNDS</th><th>CONVERGENCE</th></tr></thead>\n\
         <tbody>{rows}</tbody></table>\n"
    )
}
