//! Style, script and icon of the pages.

use crate::app::{Answer, App, Call};

pub const STYLE: &str = include_str!("../assets/lab.css");
/// Style of what the lab adds to a report or a comparison.
pub const REPORT_STYLE: &str = include_str!("../assets/report.css");
/// Shows IOPS that fall and then stay on a plateau.
pub const ICON: &str = include_str!("../assets/icon.svg");
const SCRIPT: &str = include_str!("../assets/live.js");

/// `/static/lab.css`
pub fn style(_: &App, _: &Call) -> Answer {
    Answer::of("text/css; charset=utf-8", STYLE)
}

/// `/static/live.js`
pub fn script(_: &App, _: &Call) -> Answer {
    Answer::of("text/javascript; charset=utf-8", SCRIPT)
}

/// `/static/icon.svg`, and `/favicon.ico` for pages that do not link to it, such as reports.
pub fn icon(_: &App, _: &Call) -> Answer {
    Answer::of("image/svg+xml", ICON)
}
