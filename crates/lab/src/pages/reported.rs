//! Pages that are documents of their own, after the lab's navigation: comparisons, and the page of a complete run, which is
//! its report, followed by links to the run's files and, if it is served, by forms for tags, notes and archiving.

use std::ffi::OsString;

use compare::{Authored, Comparison};
use maud::{Markup, html};
use pts::Standing;
use report::formats::Format;
use report::{Around, Document};

use super::edition::{Edition, file_formats};
use super::frame::badge;
use super::opened::with_snapshot;
use super::{labels, run};
use crate::app::{Answer, App, Call, HTML};
use crate::assets;
use crate::catalogue::State;
use crate::document::{POLICY, document};
use crate::snapshot::Snapshot;

/// `/runs/{id}`
pub fn page(app: &App, call: &Call) -> Answer {
    with_snapshot(app, call, |snapshot| {
        if !is_complete(snapshot) {
            return run::page(app, call, snapshot, None);
        }
        reported(app, call, snapshot).unwrap_or_else(|why| run::page(app, call, snapshot, Some(&why)))
    })
}

/// Returns whether the page of this run is its report.
pub fn is_complete(snapshot: &Snapshot) -> bool {
    !matches!(snapshot.standing, Standing::Running | Standing::Incomplete)
}

/// The published page of a complete run, with links to its `exports`.
pub fn published(snapshot: &Snapshot, document: &Document, exports: &[&Format]) -> String {
    let edition = Edition::Site { up: "../" };
    let after = html! {
        section.lab aria-label="This run on this site" {
            @for note in &snapshot.run.file.labels.notes { p { "Note: " (note) } }
            (run::files(&snapshot.run.file.id, exports, edition))
            p.soft { (edition.footer()) }
        }
    };
    within(document, &header(snapshot, edition), &after)
}

fn reported(app: &App, call: &Call, snapshot: &Snapshot) -> Result<Answer, String> {
    let document = document(snapshot)?;
    let page = within(&document, &header(snapshot, Edition::Server), &forms(app, call, snapshot));
    Ok(Answer { policy: Some(POLICY.into()), ..Answer::of(HTML, page) })
}

fn within(document: &Document, before: &Markup, after: &Markup) -> String {
    report::html_within(document, Around { style: assets::REPORT_STYLE, before: &before.0, after: &after.0 })
}

fn header(snapshot: &Snapshot, edition: Edition) -> Markup {
    let file = &snapshot.run.file;
    let state = html! {
        p.state {
            (badge(&State::Known(snapshot.standing))) " " (file.labels.name.as_deref().unwrap_or(&file.id)) " "
            @for tag in &file.labels.tags { span.tag { (tag) } " " }
            @if let Some(origin) = run::origin(snapshot) { span.soft { (origin) } }
        }
    };
    navigation(edition, "Runs", &state)
}

/// Returns the page of a comparison, in which `links` lead to the runs.
pub fn compared(comparison: &Comparison, links: Vec<Option<String>>, edition: Edition) -> String {
    // A site lists its comparisons, but a server composes each from the list of runs.
    let section = if edition == Edition::Server { "Runs" } else { "Comparisons" };
    let before = navigation(edition, section, &html! {});
    let around = Around { style: assets::REPORT_STYLE, before: &before.0, after: "" };
    compare::html_within(comparison, &Authored { links, ..Authored::default() }, around)
}

/// The lab's navigation on a page that is a document of its own.
fn navigation(edition: Edition, section: &str, below: &Markup) -> Markup {
    html! {
        header.lab {
            a.brand href=(edition.home()) { "Plateau" }
            // The style and the script of the document apply to the element `nav`.
            div.sections role="navigation" aria-label="Sections" {
                @for (path, name) in edition.menu() {
                    a href=(path) aria-current=[(name == section).then_some("page")] { (name) }
                }
            }
            (below)
        }
    }
}

fn forms(app: &App, call: &Call, snapshot: &Snapshot) -> Markup {
    let file = &snapshot.run.file;
    let words: Vec<OsString> = file.command.iter().skip(1).map(OsString::from).collect();
    html! {
        section.lab aria-label="This run in the library" {
            (labels::forms(app, call, snapshot))
            (run::files(&file.id, &file_formats().collect::<Vec<_>>(), Edition::Server))
            h2 { "Equivalent command line" }
            pre.command { (launch::as_typed(&words)) }
        }
    }
}
