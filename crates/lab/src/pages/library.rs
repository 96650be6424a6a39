//! The list of runs. Every filter and every order is a link.

use std::collections::BTreeSet;
use std::sync::Arc;

use maud::{Markup, html};

use super::edition::{Edition, files, link};
use super::frame::{Page, age, badge, brief, figure, marks, moment};
use crate::app::{Answer, App, Call};
use crate::catalogue::{Listing, Row, State};
use crate::order::Order;

/// Number of runs on a page.
const RUNS_PER_PAGE: usize = 100;
/// Number of pages on either side of the current one that are linked.
const NEIGHBOURS: usize = 2;
/// Number of figures in a row.
const FIGURES: usize = 3;

/// The filters and the order in the query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Words that must all occur in the description of a run.
    pub words: String,
    pub state: String,
    pub test: String,
    pub drive: String,
    /// Whether only archived runs are listed.
    pub archived: bool,
    pub order: Order,
    /// Number of the page, from 0.
    pub page: usize,
}

impl Selection {
    pub fn of(call: &Call) -> Self {
        let text = |name: &str| call.query(name).unwrap_or_default().to_owned();
        Self {
            words: text("q"),
            state: text("state"),
            test: text("test"),
            drive: text("drive"),
            archived: call.query("archived").is_some(),
            order: Order::named(call.query("sort").unwrap_or_default()),
            page: text("page").parse().unwrap_or(0),
        }
    }

    /// Returns whether a run matches the filters.
    pub fn includes(&self, row: &Row) -> bool {
        let file = &row.file;
        let labels = &file.labels;
        let is_test = |name: &String| name.eq_ignore_ascii_case(&self.test);
        let all = || {
            let texts = [&file.id, &file.profile].into_iter().chain(&file.tests).chain(&file.target.serial);
            let texts = texts.chain(&labels.name).chain(&labels.tags).chain(&labels.notes);
            let texts: Vec<&str> = texts.map(String::as_str).chain([file.target_line()]).collect();
            texts.join("\n").to_lowercase()
        };
        self.archived == row.archived
            && (self.state.is_empty() || row.state.word() == self.state)
            && (self.test.is_empty() || file.tests.iter().any(is_test))
            && (self.drive.is_empty() || row.drive() == self.drive)
            && (self.words.is_empty() || {
                let known = all();
                self.words.to_lowercase().split_whitespace().all(|word| known.contains(word))
            })
    }

    /// Returns the rows that match the filters, in order. `rows` are newest first.
    pub fn of_rows<'a>(&self, rows: &'a [Arc<Row>]) -> Vec<&'a Arc<Row>> {
        let mut selected: Vec<&Arc<Row>> = rows.iter().filter(|row| self.includes(row)).collect();
        self.order.sort(&mut selected);
        selected
    }

    /// Returns the link to this view.
    fn link(&self) -> String {
        let page = if self.page == 0 { String::new() } else { self.page.to_string() };
        let (words, state) = (self.words.as_str(), self.state.as_str());
        link(
            "/",
            &[
                ("q", words),
                ("state", state),
                ("test", &self.test),
                ("drive", &self.drive),
                ("archived", if self.archived { "1" } else { "" }),
                ("sort", if self.order == Order::default() { "" } else { self.order.word() }),
                ("page", &page),
            ],
        )
    }

    /// Returns the link to another page with the same filters and the same order.
    fn page(&self, page: usize) -> String {
        Self { page, ..self.clone() }.link()
    }

    /// Returns the link to the same runs in another order, beginning with the first page.
    fn ordered(&self, order: Order) -> String {
        Self { order, page: 0, ..self.clone() }.link()
    }
}

/// `/`
pub fn page(app: &App, call: &Call) -> Answer {
    let Listing { rows, warnings } = match app.catalogue.listing() {
        Ok(listing) => listing,
        Err(why) => return Answer { status: 500, ..Answer::html(super::frame::problem("No library", &why)) },
    };
    let selection = Selection::of(call);
    let selected = selection.of_rows(&rows);
    let running = |row: &&&Arc<Row>| row.state == State::Known(pts::Standing::Running);
    let in_progress: Vec<&Arc<Row>> = rows.iter().filter(|row| running(&row)).collect();
    let content = html! {
        h1 { "Runs" }
        @if !in_progress.is_empty() {
            section.progress aria-label="In progress" { @for row in &in_progress { (card(row)) } }
        }
        @if !warnings.is_empty() {
            div.mistakes {
                p { b { "Folders and archives that cannot be read as runs:" } }
                ul { @for warning in &warnings { li { (warning) } } }
            }
        }
        (form(&selection, &rows))
        @if rows.is_empty() {
            p.empty { "There are no runs in " code { (app.catalogue.root().display()) } ". "
                code { "plateau demo" } " creates one on a simulated drive in seconds." }
        } @else if selected.is_empty() {
            p.empty { "None of the " (rows.len()) " runs matches. " a href="/" { "Show all" } }
        } @else {
            (results(&selected, &selection))
        }
    };
    Answer::html(
        Page { title: "Runs", section: "Runs", follows: None, edition: Edition::Server, content }.html(),
    )
}

fn card(row: &Row) -> Markup {
    let now = record::wall_now();
    html! {
        a.card href=(format!("/runs/{}", row.file.id)) {
            span { (badge(&row.state)) " " b { (brief(row.file.labels.name.as_deref().unwrap_or(&row.file.id))) } }
            span { (row.file.tests.join(", ")) }
            span { (brief(row.file.target_line())) }
            span.soft {
                "running for " (age(row.file.created, now))
                @if let Some(last) = row.last_record { "; last record " (age(last, now)) " ago" }
            }
            span { (marks(row)) }
        }
    }
}

fn form(selection: &Selection, rows: &[Arc<Row>]) -> Markup {
    let mut tests: BTreeSet<&str> = BTreeSet::new();
    // Not collected, which would sort the tests of all runs.
    tests.extend(rows.iter().flat_map(|row| &row.file.tests).map(String::as_str));
    html! {
        form.filter action="/" method="get" role="search" {
            label { "Search" input type="search" name="q" value=(selection.words) placeholder="drive, serial, tag, note"; }
            label { "State"
                select name="state" {
                    option value="" { "any" }
                    @for word in State::WORDS { option value=(word) selected[word == selection.state] { (word) } }
                }
            }
            label { "Test"
                select name="test" {
                    option value="" { "any" }
                    @for test in tests { option value=(test) selected[test == selection.test] { (test) } }
                }
            }
            label { "Order"
                select name="sort" {
                    @for order in Order::ALL { option value=(order.word()) selected[order == selection.order] { (order.word()) } }
                }
            }
            label.pick { input type="checkbox" name="archived" value="1" checked[selection.archived]; "Archived" }
            @if !selection.drive.is_empty() { input type="hidden" name="drive" value=(selection.drive); }
            button { "Show" }
        }
    }
}

fn results(selected: &[&Arc<Row>], selection: &Selection) -> Markup {
    let pages = selected.len().div_ceil(RUNS_PER_PAGE);
    let page = selection.page.min(pages - 1);
    html! {
        form action="/compare" method="get" {
            p.soft { (count(selected.len())) " " button { "Compare selected runs" } }
            (table(on_page(selected, page), Edition::Server, Some(selection)))
        }
        (pages_nav(pages, page, |number| selection.page(number)))
    }
}

/// Returns the pages of the published list of runs, each with its path.
pub fn published(rows: &[&Arc<Row>]) -> Vec<(String, Markup)> {
    let edition = Edition::Site { up: "" };
    let path = page_file;
    let pages = rows.len().div_ceil(RUNS_PER_PAGE).max(1);
    let of_page = |page: usize| {
        let content = html! {
            h1 { "Runs" }
            p.soft { (count(rows.len())) }
            (table(on_page(rows, page), edition, None))
            (pages_nav(pages, page, path))
        };
        (path(page), Page { title: "Runs", section: "Runs", follows: None, edition, content }.html())
    };
    (0..pages).map(of_page).collect()
}

/// Returns the paths of the pages that list `runs` published runs.
pub fn published_files(runs: usize) -> impl Iterator<Item = String> {
    (0..runs.div_ceil(RUNS_PER_PAGE).max(1)).map(page_file)
}

fn page_file(page: usize) -> String {
    match page {
        0 => files::HOME.to_owned(),
        page => format!("runs-{}.html", page + 1),
    }
}

fn count(runs: usize) -> String {
    if runs == 1 { "1 run".into() } else { format!("{runs} runs") }
}

fn on_page<'a, 'b>(rows: &'a [&'b Arc<Row>], page: usize) -> &'a [&'b Arc<Row>] {
    let end = rows.len().min((page + 1) * RUNS_PER_PAGE);
    &rows[end.min(page * RUNS_PER_PAGE)..end]
}

fn pages_nav(pages: usize, page: usize, path: impl Fn(usize) -> String) -> Markup {
    html! {
        @if pages > 1 {
            nav.pages aria-label="Pages" {
                @for entry in linked(pages, page) {
                    @if let Some(number) = entry {
                        a href=(path(number)) aria-label=(format!("Page {}", number + 1))
                            aria-current=[(number == page).then_some("page")] { (number + 1) }
                    } @else {
                        span.soft aria-hidden="true" { "\u{2026}" }
                    }
                }
            }
        }
    }
}

/// Returns the pages that are linked: the first, the last, and those around the current one. `None` stands for two or more
/// pages in between.
fn linked(pages: usize, page: usize) -> Vec<Option<usize>> {
    let last = pages.saturating_sub(1);
    let near = page.saturating_sub(NEIGHBOURS)..=(page + NEIGHBOURS).min(last);
    let mut entries: Vec<Option<usize>> = Vec::new();
    let mut next = 0;
    for number in BTreeSet::from_iter(near.chain([0, last])) {
        match number - next {
            0 => {}
            1 => entries.push(Some(next)),
            _ => entries.push(None),
        }
        entries.push(Some(number));
        next = number + 1;
    }
    entries
}

/// The table of runs; with a selection, the headings are links to the same runs in another order.
fn table(rows: &[&Arc<Row>], edition: Edition, selection: Option<&Selection>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Runs" {
            table.runs.cards {
                thead {
                    tr {
                        @if edition.has_forms() { th { span.hidden { "Compare" } } }
                        th { "Run" }
                        (heading(selection, &[("Started", started(selection))]))
                        (heading(selection, &[("Tests", Order::Test), ("Profile", Order::Profile)]))
                        (heading(selection, &[("State", Order::State)]))
                        (heading(selection, &[("Drive", Order::Target)]))
                        th { "Key figures" }
                    }
                }
                tbody { @for row in rows { (line(row, edition)) } }
            }
        }
    }
}

/// Returns the order that the heading of the times leads to: the other direction if the list is sorted by time.
fn started(selection: Option<&Selection>) -> Order {
    match selection.map(|selection| selection.order) {
        Some(Order::Newest) => Order::Oldest,
        _ => Order::Newest,
    }
}

/// The heading of a column, which contains one or more values of a run.
fn heading(selection: Option<&Selection>, values: &[(&str, Order)]) -> Markup {
    let is_time = values.iter().any(|(_, order)| matches!(order, Order::Newest | Order::Oldest));
    let sorted = selection.and_then(|selection| match selection.order {
        Order::Newest if is_time => Some("descending"),
        Order::Oldest if is_time => Some("ascending"),
        order => values.iter().any(|(_, own)| *own == order).then_some("ascending"),
    });
    html! {
        th aria-sort=[sorted] {
            @for (place, (name, order)) in values.iter().enumerate() {
                @if place > 0 { " \u{b7} " }
                @match selection {
                    Some(selection) => {
                        @let is_sorted = is_time && sorted.is_some() || selection.order == *order;
                        a class=[is_sorted.then_some("sorted")] href=(selection.ordered(*order)) title=(format!("Order: {}", order.word())) { (name) }
                    }
                    None => (name),
                }
            }
        }
    }
}

fn line(row: &Row, edition: Edition) -> Markup {
    let file = &row.file;
    let labels = &file.labels;
    html! {
        tr {
            @if edition.has_forms() {
                td.tick { input type="checkbox" name="run" value=(file.id) aria-label=(format!("Compare {}", file.id)); }
            }
            th scope="row" {
                a href=(edition.run(&file.id)) { (brief(labels.name.as_deref().unwrap_or(&file.id))) }
                @for tag in &labels.tags { " " span.tag { (brief(tag)) } }
            }
            td.date { (moment(file.created)) }
            td { (file.tests.join(", ")) br; span.soft { (file.profile) } }
            td {
                (badge(&row.state)) " " (marks(row))
                @if let State::Unreadable(why) = &row.state { span.soft { (why) } }
            }
            td { a href=(edition.drive(&row.drive())) { (brief(file.target_line())) } }
            td { @for each in row.figures.iter().take(FIGURES) { (figure(each)) " " } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_any_length_links_few_pages_and_leads_to_all() {
        let shown = |pages, page| {
            let entry = |entry: Option<usize>| entry.map_or("..".to_owned(), |number| number.to_string());
            linked(pages, page).into_iter().map(entry).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(2, 0), "0 1");
        assert_eq!(shown(9, 4), "0 1 2 3 4 5 6 7 8", "a gap of one page is that page");
        assert_eq!(shown(100, 0), "0 1 2 .. 99");
        assert_eq!(shown(100, 50), "0 .. 48 49 50 51 52 .. 99");
        assert_eq!(shown(100, 99), "0 .. 97 98 99");
        for pages in 1..120 {
            for page in 0..pages {
                let entries = linked(pages, page);
                assert!(entries.len() <= 9, "{pages}, {page}: {entries:?}");
                let mut neighbours = page.saturating_sub(1)..pages.min(page + 2);
                assert!(neighbours.all(|number| entries.contains(&Some(number))), "{pages}, {page}");
            }
        }
        let nav = pages_nav(100, 50, page_file).into_string();
        assert!(nav.starts_with("<nav class=\"pages\" aria-label=\"Pages\">"), "{nav}");
        let current = "<a href=\"runs-51.html\" aria-label=\"Page 51\" aria-current=\"page\">51</a>";
        assert!(nav.contains(current) && nav.matches("aria-current").count() == 1, "{nav}");
        assert_eq!(nav.matches("<a ").count(), 7, "{nav}");
        assert!(nav.contains("<span class=\"soft\" aria-hidden=\"true\">\u{2026}</span>"), "{nav}");
    }

    #[test]
    fn a_selection_survives_the_link_to_another_page() {
        let query = [
            ("q", "a&b=c d"),
            ("state", "steady"),
            ("drive", "S/N \u{202e}<1>"),
            ("archived", "1"),
            ("sort", "target"),
        ];
        let query = query.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let selection = Selection::of(&Call { query, ..Call::default() });
        let link = selection.page(3);
        let (_, encoded) = link.split_once('?').expect("a query");
        let query = form_urlencoded::parse(encoded.as_bytes()).into_owned().collect();
        let again = Selection::of(&Call { query, ..Call::default() });
        assert_eq!(again, Selection { page: 3, ..selection.clone() });
        // Another order begins with the first page.
        let link = Selection { page: 3, ..selection.clone() }.ordered(Order::Newest);
        assert!(
            !link.contains("page=") && !link.contains("sort=") && link.contains("state=steady"),
            "{link}"
        );
        assert_eq!(selection.order, Order::Target);
    }
}
