//! The heat map of a run's response times.

use maud::{Markup, PreEscaped, html};

use super::opened::with_snapshot;
use crate::app::{Answer, App, Call};
use crate::snapshot::Snapshot;

/// Maximum length of the part of the current test that is shown, which ends with the latest workload.
const MOST_MINUTES: f64 = 60.0;
const TITLE: &str = "Response times over time";

/// `/runs/{id}/heat`: the picture, which is too large to be part of a page that is loaded every second.
pub fn picture(app: &App, call: &Call) -> Answer {
    with_snapshot(app, call, |snapshot| match svg(snapshot) {
        Some(svg) => Answer::of("image/svg+xml", svg),
        None => Answer::error(404, "this run has no complete workload"),
    })
}

/// Returns the picture; `None` before the first workload is complete.
pub fn svg(snapshot: &Snapshot) -> Option<String> {
    let run = &snapshot.run;
    let line = report::latest_response_times(&run.file, &snapshot.loaded.entries, MOST_MINUTES)?;
    Some(charts::timeline(&line, TITLE))
}

/// The part of a page that shows the picture.
pub fn section(snapshot: &Snapshot, source: Source<'_>) -> Markup {
    // Files from other tools do not contain response times over time.
    let measured = snapshot.run.file.origin.is_none()
        && snapshot.loaded.entries.iter().any(|entry| crate::live::segment(entry).is_some());
    html! {
        @if measured {
            section {
                h2 { "Response times" }
                p.soft { "The last hour of the current or last test. The darker a field, the larger the share of the I/Os in its \
                          column with this response time." }
                figure.picture tabindex="0" aria-label=(TITLE) {
                    @match source {
                        Source::Linked(address) => { img src=(address) alt=(TITLE); }
                        // The picture is drawn by `charts`, which escapes all text.
                        Source::Inline => (PreEscaped(svg(snapshot).unwrap_or_default())),
                    }
                }
            }
        }
    }
}

/// How a page includes the picture.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// As a link to this address.
    Linked(&'a str),
    /// As part of the page.
    Inline,
}
