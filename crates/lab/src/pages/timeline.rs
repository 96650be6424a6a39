//! The latest hour of a run: IOPS, throughput, response times, and the readings of drive and host on one time axis.

use maud::{Markup, PreEscaped, html};
use report::Latest;

use super::opened::with_snapshot;
use crate::app::{Answer, App, Call};
use crate::parts::Part;
use crate::snapshot::Snapshot;

const TITLE: &str = "The last hour";

/// `/runs/{id}/timeline`: the picture, which is too large to be part of a page that is loaded every second.
pub fn picture(app: &App, call: &Call) -> Answer {
    let drawn = |snapshot: &Snapshot| latest(snapshot).as_ref().map(svg).unwrap_or_default();
    let answer = |svg: String| match svg.is_empty() {
        false => Answer::of("image/svg+xml", svg),
        true => Answer::error(404, "this run has no complete workload"),
    };
    match app.followed.part(call.name(), Part::Picture, drawn) {
        Some(svg) => answer(svg),
        None => with_snapshot(app, call, |snapshot| answer(drawn(snapshot))),
    }
}

/// Returns the latest hour; `None` before the first workload is complete.
pub fn latest(snapshot: &Snapshot) -> Option<Latest> {
    let run = &snapshot.run;
    // Files from other tools do not contain values over time.
    if run.file.origin.is_some() {
        return None;
    }
    report::latest(&run.file, &snapshot.loaded.entries)
}

/// Returns the picture.
pub fn svg(latest: &Latest) -> String {
    charts::tall_timeline(&latest.line, TITLE)
}

/// The part of a page that shows the picture.
pub fn section(snapshot: &Snapshot, source: Source<'_>) -> Markup {
    let Some(latest) = latest(snapshot) else { return html! {} };
    let divisor = snapshot.run.file.scale_divisor();
    html! {
        section {
            h2 { (TITLE) }
            p.soft {
                "The last hour of the current or last test; a workload appears when it is complete. The darker a field, the \
                 larger the share of the I/Os in its column with this response time."
                @if divisor > 1 { " Minutes refer to the full-size drive." }
                @if !latest.unavailable.is_empty() { " Not reported by drive or host: " (latest.unavailable.join(", ")) "." }
            }
            figure.picture tabindex="0" aria-label=(TITLE) {
                @match source {
                    Source::Linked(address) => { img src=(address) alt=(described(&latest)); }
                    // The picture is drawn by `charts`, which escapes all text.
                    Source::Inline => (PreEscaped(svg(&latest))),
                }
            }
        }
    }
}

/// Returns what the picture shows.
fn described(latest: &Latest) -> String {
    let titles: Vec<&str> = latest.line.panels.iter().map(|panel| panel.title.as_str()).collect();
    titles.join(", ") + " over time"
}

/// How a page includes the picture.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// As a link to this address.
    Linked(&'a str),
    /// As part of the page.
    Inline,
}
