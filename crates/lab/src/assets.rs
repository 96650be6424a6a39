//! Style and script of the pages.

use crate::app::{Answer, App, Call};

pub const STYLE: &str = include_str!("../assets/lab.css");
const SCRIPT: &str = include_str!("../assets/live.js");

/// `/static/lab.css`
pub fn style(_: &App, _: &Call) -> Answer {
    Answer::of("text/css; charset=utf-8", STYLE)
}

/// `/static/live.js`
pub fn script(_: &App, _: &Call) -> Answer {
    Answer::of("text/javascript; charset=utf-8", SCRIPT)
}
