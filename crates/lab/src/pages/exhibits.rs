//! The exhibits of a test as markup.

use charts::Size;
use maud::{Markup, PreEscaped, html};
use pts::Outcome;
use pts::exhibit::{Cell, Exhibit, Facts, Page as Group, Table};
use stdx::units::grouped;

use super::edition::{Edition, Width, link};
use super::frame::{Page, problem};
use super::opened::with_snapshot;
use crate::app::{Answer, App, Call};

/// Size of the exhibits on a page that is not a report: with everything else, it has at most 150 kB.
const MOST_BYTES: usize = 95_000;

/// `/runs/{id}/exhibits`: the exhibits of a test, by default the first one, from the exhibit with the given number on.
pub fn page(app: &App, call: &Call) -> Answer {
    with_snapshot(app, call, |snapshot| {
        let id = &snapshot.run.file.id;
        let is_asked_for = |outcome: &&Outcome| call.query("test").is_none_or(|name| outcome.test == name);
        let Some(outcome) = snapshot.replayed.outcomes.iter().find(is_asked_for) else {
            let text = "This run does not have this test, or the test has not started.";
            return Answer { status: 404, ..Answer::html(problem("No such test", text)) };
        };
        let name = &outcome.test;
        let from = call.query("from").and_then(|number| number.parse().ok()).unwrap_or(0);
        let (shown, next) = some(&outcome.pages, from, MOST_BYTES, Progress::AtLeastOne, None);
        let content = html! {
            h1 { a href=(Edition::Server.run(id)) { (id) } }
            h2 { (outcome.title) }
            (shown)
            @if let Some(next) = next { p.links { a href=(address(id, name, next)) { "Further exhibits" } } }
        };
        Answer::html(
            Page { title: name, section: "Runs", follows: None, edition: Edition::Server, content }.html(),
        )
    })
}

fn address(id: &str, test: &str, from: usize) -> String {
    link(&format!("/runs/{id}/exhibits"), &[("test", test), ("from", &from.to_string())])
}

/// All exhibits of a test.
pub fn all(outcome: &Outcome) -> Markup {
    some(&outcome.pages, 0, usize::MAX, Progress::AtLeastOne, None).0
}

/// The first exhibits of a test, and a link to the others if they do not fit on a page; with a `width`, only the pictures for
/// such windows.
pub fn first(id: &str, outcome: &Outcome, edition: Edition, width: Option<Width>) -> Markup {
    let (shown, next) = some(&outcome.pages, 0, MOST_BYTES, Progress::AsFits, width);
    let others = |next| match edition {
        Edition::Server => address(id, &outcome.test, next),
        Edition::Site { .. } => edition.report(id),
    };
    html! {
        (shown)
        @if let Some(next) = next {
            @let count: usize = outcome.pages.iter().map(|group| group.exhibits.len()).sum();
            p.links { a href=(others(next)) { "Further exhibits: " (count - next) " of " (count) } }
        }
    }
}

/// A link to the exhibits of a test.
pub fn of_test(id: &str, outcome: &Outcome) -> Markup {
    html! { a href=(address(id, &outcome.test, 0)) { (outcome.title) } }
}

/// Whether an exhibit is shown that is larger than a page may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    AsFits,
    /// Yes, if it is the first one: every exhibit is reached by following links.
    AtLeastOne,
}

/// Shows the exhibits from number `from` on, as far as they fit with the pictures for all windows, so that a part for some
/// windows has the same exhibits; also returns the number of the first one that does not.
fn some(
    groups: &[Group],
    from: usize,
    most_bytes: usize,
    progress: Progress,
    width: Option<Width>,
) -> (Markup, Option<usize>) {
    let (mut out, mut number, mut bytes) = (String::new(), 0, 0);
    for group in groups {
        let mut part = String::new();
        let mut next = None;
        for exhibit in &group.exhibits {
            number += 1;
            if number <= from {
                continue;
            }
            let (markup, most) = self::exhibit(exhibit, &group.title, width);
            let is_first = out.is_empty() && part.is_empty();
            if bytes + most > most_bytes && !(is_first && progress == Progress::AtLeastOne) {
                next = Some(number - 1);
                break;
            }
            part += &markup.0;
            bytes += most;
        }
        if !part.is_empty() {
            let exhibits_bytes = part.len();
            let section = html! {
                section.exhibits {
                    h3 { (group.title) }
                    (PreEscaped(part))
                    @for remark in &group.remarks { p.soft { (remark) } }
                }
            };
            out += &section.0;
            bytes += section.0.len() - exhibits_bytes;
        }
        if next.is_some() {
            return (PreEscaped(out), next);
        }
    }
    (PreEscaped(out), None)
}

/// Returns an exhibit, and its size in bytes with the pictures for all windows.
fn exhibit(exhibit: &Exhibit, title: &str, width: Option<Width>) -> (Markup, usize) {
    let sized = |markup: Markup| {
        let bytes = markup.0.len();
        (markup, bytes)
    };
    match exhibit {
        Exhibit::Table(table) => sized(self::table(table)),
        Exhibit::Facts(facts) => sized(self::facts(facts)),
        // Columns are several times as large as a map of the same values, and hide each other.
        Exhibit::Columns3d(columns) => {
            let (map, bytes) = self::exhibit(&Exhibit::HeatMap(columns.clone()), title, width);
            let remark = html! { p.soft { "Shown as a map; the report also shows the columns." } };
            (html! { (map) (remark) }, bytes + remark.0.len())
        }
        chart => {
            let wide = charts::picture(chart, title, Size::DEFAULT).unwrap_or_default();
            let narrow = charts::narrow_picture(chart, title).unwrap_or_default();
            (figure(&wide, &narrow, width), wide.len() + narrow.len())
        }
    }
}

/// A picture for wide and one for narrow windows, or only that for windows of this `width`. They are drawn by `charts`,
/// which escapes all text.
pub fn figure(wide: &str, narrow: &str, width: Option<Width>) -> Markup {
    let (wide, narrow) = match width {
        Some(Width::Wide) => (wide, ""),
        // Not every chart has a narrow picture.
        Some(Width::Narrow) if !narrow.is_empty() => ("", narrow),
        Some(Width::Narrow) | None => (wide, narrow),
    };
    let narrow = narrow.replacen("<svg ", "<svg class=\"narrow\" ", 1);
    html! { figure.picture { (PreEscaped(wide)) (PreEscaped(narrow)) } }
}

fn table(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.heading) {
            table {
                caption { (table.heading) }
                thead {
                    tr { th { (table.row_heading) } @for column in &table.columns { th.number { (column) } } }
                }
                tbody {
                    @for (index, row) in table.rows.iter().enumerate() {
                        tr {
                            th scope="row" { (row.name) }
                            @for (column, cell) in row.cells.iter().enumerate() {
                                td.number { (self::cell(cell, table.decimals_at(index, column))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(cell: &Cell, decimals: usize) -> Markup {
    match cell {
        Cell::Value(value) if value.is_finite() => html! { (grouped(*value, decimals)) },
        Cell::HostLimited(value) if value.is_finite() => html! {
            (grouped(*value, decimals)) abbr title="The host may have limited this figure" { "*" }
        },
        Cell::Value(_) | Cell::HostLimited(_) => html! { span.soft { "n/a" } },
        Cell::Absent(why) => html! { span.soft { (why) } },
    }
}

fn facts(facts: &Facts) -> Markup {
    html! {
        h4 { (facts.heading) }
        dl.facts { @for (name, value) in &facts.items { div { dt { (name) } dd { (value) } } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize) -> Exhibit {
        let row = |number| pts::exhibit::Row { name: format!("row {number}"), cells: vec![Cell::Value(1.0)] };
        Exhibit::Table(Table {
            heading: "T".into(),
            row_heading: "R".into(),
            column_heading: String::new(),
            columns: vec!["C".into()],
            rows: (0..rows).map(row).collect(),
            decimals: 0,
            units: pts::exhibit::Units::All("IOPS".into()),
        })
    }

    #[test]
    fn every_exhibit_is_on_one_page_and_no_page_is_too_large() {
        let group = |key: &str, sizes: &[usize]| Group {
            exhibits: sizes.iter().map(|rows| table(*rows)).collect(),
            remarks: vec!["a remark".into()],
            ..Group::of(key, "G", table(0))
        };
        let groups = [group("a", &[10, 10, 10]), group("b", &[]), group("c", &[900]), group("d", &[10; 30])];
        let (mut next, mut tables, mut pages) = (Some(0), 0, 0);
        while let Some(from) = next {
            let (shown, after) = some(&groups, from, 10_000, Progress::AtLeastOne, None);
            let shown = shown.into_string();
            let found = shown.matches("<table>").count();
            assert!(
                found > 0 && (shown.len() < 11_000 || found == 1),
                "{} bytes, {found} tables",
                shown.len()
            );
            (next, tables, pages) = (after, tables + found, pages + 1);
        }
        assert_eq!(tables, 34);
        assert!((4..10).contains(&pages), "{pages}");
        let (shown, next) = some(&groups[2..], 0, 10_000, Progress::AsFits, None);
        assert_eq!((shown.into_string().as_str(), next), ("", Some(0)), "it has a page of its own");
        assert_eq!(some(&groups, 0, usize::MAX, Progress::AsFits, None).1, None);
        assert_eq!(some(&groups, 99, 10_000, Progress::AtLeastOne, None).0.into_string(), "");
    }

    #[test]
    fn a_part_has_the_exhibits_of_the_page_with_one_picture_each() {
        let series = vec![pts::exhibit::Series { name: "S".into(), points: vec![(1.0, 2.0), (2.0, 3.0)] }];
        let (x, y) = (("Round", pts::exhibit::Scale::Rounds), ("IOPS", pts::exhibit::Scale::LinearFromZero));
        let lines = pts::exhibit::Lines::plain(pts::ReadingHint::Saturation, x, y, series);
        let groups: Vec<Group> = (0..9).map(|_| Group::of("k", "G", Exhibit::Lines(lines.clone()))).collect();
        let one = some(&groups[..1], 0, usize::MAX, Progress::AsFits, None).0.0.len();
        let of = |width| some(&groups, 0, 9 * one / 2, Progress::AsFits, width);
        let ((page, next), count) = (of(None), 4);
        assert_eq!(next, Some(count));
        let pictures = |text: &str, what: &str| text.matches(what).count();
        assert_eq!(pictures(&page.0, "<svg"), 2 * count);
        for (width, narrow) in [(Width::Wide, 0), (Width::Narrow, count)] {
            let (part, after) = of(Some(width));
            assert_eq!((pictures(&part.0, "<svg"), after), (count, next));
            assert_eq!(pictures(&part.0, "class=\"narrow\""), narrow);
        }
    }
}
