//! The page of a complete run: its report after the lab's navigation, followed by links to the run's files and, if it is
//! served, by forms for tags, notes and archiving.

use std::ffi::OsString;

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
    html! {
        header.lab {
            a.brand href=(edition.home()) { "Plateau" }
            // The style and the script of the report apply to the element `nav`.
            div.sections role="navigation" aria-label="Sections" {
                @for (path, name) in edition.menu() {
                    a href=(path) aria-current=[(name == "Runs").then_some("page")] { (name) }
                }
            }
            p.state {
                (badge(&State::Known(snapshot.standing))) " " (file.labels.name.as_deref().unwrap_or(&file.id)) " "
                @for tag in &file.labels.tags { span.tag { (tag) } " " }
                @if let Some(origin) = run::origin(snapshot) { span.soft { (origin) } }
            }
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
