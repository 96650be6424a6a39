//! The summary page of one test: description, set-up, select performance data, steady state, notes.

use pts::steady::Steadiness;
use pts::{KeyFigure, Outcome};
use stdx::units::grouped;

use super::frame::{Place, banners, facts, or_na, set_up_table, sheet, summary_top};
use super::notes::{self, NoteRow, first_few};
use super::title_line;
use crate::Document;

/// The summary of `outcome`.
pub(super) fn page(document: &Document, outcome: &Outcome, place: Place) -> String {
    let header = &outcome.header;
    let preconditioning = format!(
        "workload independent: {}; workload dependent: {}",
        header.workload_independent, header.workload_dependent
    );
    let description = [
        ("Purpose", or_na(Some(outcome.purpose))),
        ("Test Outline", or_na(Some(&outcome.outline))),
        ("Preconditioning", or_na(Some(&preconditioning))),
    ];
    let body = format!(
        "{}<h2>Test Description</h2>\n{}<h2>Test Set Up</h2>\n{}<h2>Select Performance Data</h2>\n{}{}\
         <h2>Special Notes</h2>\n{}",
        summary_top(document, place, &title_line(document, outcome, "Summary Page")),
        facts("description", &description),
        set_up_table(document, std::slice::from_ref(outcome), &[]),
        figures(&outcome.key_figures),
        steady_state(&outcome.window),
        notes::table(&notes(outcome))
    );
    sheet(document, place, "summary", &banners(document, Some(outcome)), &body)
}

fn figures(figures: &[KeyFigure]) -> String {
    let figure = |figure: &KeyFigure| {
        let value = figure.value.filter(|v| v.is_finite());
        let value = value.map_or_else(|| figure.absent.to_owned(), |value| grouped(value, figure.decimals));
        format!(
            "<div><span>{}</span><strong>{value}</strong><span>{}</span></div>\n",
            or_na(Some(&figure.name)),
            or_na(Some(figure.unit))
        )
    };
    format!("<div class=\"figures\">{}</div>\n", figures.iter().map(figure).collect::<String>())
}

/// How the window was judged, one row per tracking variable.
fn steady_state(window: &[(String, Steadiness)]) -> String {
    if window.is_empty() {
        return String::new();
    }
    let row = |(name, steadiness): &(String, Steadiness)| {
        let s = steadiness;
        let share =
            |part: f64| if s.mean > 0.0 { format!("{:.1} %", part / s.mean * 100.0) } else { "n/a".into() };
        format!(
            "<tr><td>{}</td><td>{}-{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td>{}</td><td>{}</td></tr>\n",
            or_na(Some(name)),
            s.first_round,
            s.last_round,
            // Milliseconds are small numbers, IOPS large ones.
            grouped(s.mean, if s.mean.abs() < 10.0 { 3 } else { 1 }),
            share(s.range),
            share(s.slope_excursion),
            s.formula(),
            if s.steady { "YES" } else { "NO" }
        )
    };
    format!(
        "<table class=\"steady\"><thead><tr><th>Tracking variable</th><th>Rounds</th><th class=\"n\">Average</th>\
         <th class=\"n\">Data excursion (allowed 20 %)</th><th class=\"n\">Slope excursion (allowed 10 %)</th>\
         <th>Linear fit</th><th>Steady</th></tr></thead>\n<tbody>{}</tbody></table>\n",
        window.iter().map(row).collect::<String>()
    )
}

/// Not more than fits on the sheet: page 1 has everything.
fn notes(outcome: &Outcome) -> Vec<NoteRow> {
    let row = |notation: &str, comments: &[String]| NoteRow {
        item: outcome.title.into(),
        notation: notation.into(),
        comments: first_few(comments),
    };
    let kinds = [("NOTE", &outcome.notes), ("MODIFIED", &outcome.modified)];
    kinds.into_iter().filter(|(_, all)| !all.is_empty()).map(|(notation, all)| row(notation, all)).collect()
}
