//! The latest hour of a run: IOPS, throughput, response times, and the readings of drive and host on one time axis.

use maud::{Markup, html};
use report::Latest;

use super::edition::{Edition, NARROW, Width};
use super::exhibits::figure;
use super::opened::with_snapshot;
use crate::app::{Answer, App, Call};
use crate::parts::Part;
use crate::snapshot::Snapshot;

const TITLE: &str = "The last hour";

/// `/runs/{id}/timeline`: the picture, which is too large to be part of a page that is loaded every second.
pub fn picture(app: &App, call: &Call) -> Answer {
    let width = if call.query(NARROW).is_some() { Width::Narrow } else { Width::Wide };
    let drawn = |snapshot: &Snapshot| latest(snapshot).map(|latest| svg(&latest, width)).unwrap_or_default();
    let answer = |svg: String| match svg.is_empty() {
        false => Answer::of("image/svg+xml", svg),
        true => Answer::error(404, "this run has no complete workload"),
    };
    match app.followed.part(call.name(), Part::Picture(width), drawn) {
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
pub fn svg(latest: &Latest, width: Width) -> String {
    match width {
        Width::Wide => charts::tall_timeline(&latest.line, TITLE),
        Width::Narrow => charts::narrow_timeline(&latest.line, TITLE),
    }
}

/// The part of a page that shows the picture.
pub fn section(snapshot: &Snapshot, source: Source) -> Markup {
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
            @match source.edition() {
                Some(edition) => figure.picture {
                    @let address = |width| edition.timeline(&snapshot.run.file.id, snapshot.last_record(), width);
                    picture {
                        source media="(max-width: 40rem)" srcset=(address(Width::Narrow));
                        img src=(address(Width::Wide)) alt=(described(&latest));
                    }
                },
                None => (figure(&svg(&latest, Width::Wide), &svg(&latest, Width::Narrow), None)),
            }
        }
    }
}

/// Returns what the picture shows.
fn described(latest: &Latest) -> String {
    let titles: Vec<&str> = latest.line.panels.iter().map(|panel| panel.title.as_str()).collect();
    titles.join(", ") + " over time"
}

/// How a page includes pictures.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// With links to other addresses.
    Linked(Edition),
    /// Like a served page, but only with the pictures for windows of this width.
    Part(Width),
    /// As parts of the page, which needs nothing else.
    Inline,
}

impl Source {
    /// Returns the edition to which the page links; None if it needs nothing else.
    pub const fn edition(self) -> Option<Edition> {
        match self {
            Self::Linked(edition) => Some(edition),
            Self::Part(_) => Some(Edition::Server),
            Self::Inline => None,
        }
    }

    /// Returns the width of the windows that the page is for; None for all windows.
    pub const fn width(self) -> Option<Width> {
        match self {
            Self::Part(width) => Some(width),
            Self::Linked(_) | Self::Inline => None,
        }
    }
}
