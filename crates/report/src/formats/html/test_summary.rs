//! The summary page of one test: description, set-up, selected performance data, steady state, notes.

use pts::{KeyFigure, Outcome};

use super::frame::{SCROLLER, banners, blocks, facts, folded, set_up_table, sheet, summary_top};
use super::notes;
use crate::document::contents::Document;
use crate::pages::list::PageNumber;
use crate::pages::notes::notes_of_test;
use crate::pages::remarks::figures_legend;
use crate::pages::test_summary::{self, STEADY_HEADINGS};
use crate::pages::values::or_na;
use crate::pages::{front, titles};
use charts::markup::{escape, escape_running};

/// Returns the summary of `outcome`.
pub(super) fn page(document: &Document, outcome: &Outcome, number: PageNumber) -> String {
    let body = format!(
        "{}{}<h2>Test Description</h2>\n{}<h2>Test Set Up</h2>\n{}<h2>Select Performance Data</h2>\n{}{}\
         <h2>Special Notes</h2>\n{}",
        summary_top(document, number, &titles::title_line(document, outcome, "Summary Page")),
        folded(&blocks(&front::blocks_of_test(document, outcome))),
        facts("description", &test_summary::description(outcome)),
        set_up_table(document, std::slice::from_ref(outcome), &[]),
        figures(outcome),
        steady_state(outcome),
        notes::table(&notes_of_test(document, outcome))
    );
    sheet(document, number, "summary", &banners(document, Some(outcome)), &body)
}

fn figures(outcome: &Outcome) -> String {
    let figure = |figure: &KeyFigure| {
        let class = if test_summary::is_valid(outcome, figure) { "" } else { " class=\"doubtful\"" };
        format!(
            "<div{class}><span>{}</span><strong>{}</strong><span>{}</span></div>\n",
            escape_running(&or_na(Some(&figure.name))),
            escape(&test_summary::figure_value(figure)),
            escape(&or_na(Some(figure.unit.symbol())))
        )
    };
    let legend = figures_legend(outcome);
    let legend = legend.map(|text| format!("<p class=\"remark\">{}</p>\n", escape(&text)));
    let figures: String = outcome.key_figures.iter().map(figure).collect();
    format!("<div class=\"figures\">{figures}</div>\n{}", legend.unwrap_or_default())
}

/// Returns the steady-state criteria of the window, one row per tracking variable.
fn steady_state(outcome: &Outcome) -> String {
    let rows = test_summary::steady_rows(outcome);
    if rows.is_empty() {
        return String::new();
    }
    let class = |column: usize| if (2..5).contains(&column) { " class=\"n\"" } else { "" };
    let cells = |tag: &str, cells: &[&str]| -> String {
        let cell = |(i, text): (usize, &&str)| format!("<{tag}{}>{}</{tag}>", class(i), escape(text));
        cells.iter().enumerate().map(cell).collect()
    };
    let row = |row: &[String; 7]| format!("<tr>{}</tr>\n", cells("td", &row.each_ref().map(String::as_str)));
    format!(
        "{SCROLLER}<table class=\"steady\"><thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table></div>\n",
        cells("th", &STEADY_HEADINGS),
        rows.iter().map(row).collect::<String>()
    )
}
