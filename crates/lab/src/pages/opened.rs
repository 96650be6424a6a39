//! The run that the path of a request names.

use std::sync::Arc;

use maud::Markup;

use super::frame::problem;
use crate::app::{Answer, App, Call, HTML};
use crate::parts::Part;
use crate::snapshot::Snapshot;

/// Why a run is not shown.
pub enum Unopened {
    /// The library does not contain it.
    Unknown,
    /// The journal of the run cannot be read or evaluated.
    Unreadable(String),
}

impl Unopened {
    /// Returns the answer to a program.
    pub fn answer(self) -> Answer {
        match self {
            Self::Unknown => Answer::error(404, "this library does not contain that run"),
            Self::Unreadable(why) => Answer::error(500, why),
        }
    }
}

/// Returns the current snapshot of the run named in the path.
pub fn opened(app: &App, call: &Call) -> Result<Arc<Snapshot>, Unopened> {
    let run = app.catalogue.run(call.name()).ok_or(Unopened::Unknown)?;
    app.snapshots.of(run).map_err(Unopened::Unreadable)
}

/// Calls `show` with the current snapshot of the run named in the path.
pub fn with_snapshot(app: &App, call: &Call, show: impl FnOnce(&Snapshot) -> Answer) -> Answer {
    match opened(app, call) {
        Ok(snapshot) => show(&snapshot),
        Err(Unopened::Unknown) => {
            let text = "This library does not contain that run.";
            Answer { status: 404, ..Answer::html(problem("No such run", text)) }
        }
        Err(Unopened::Unreadable(why)) => {
            Answer { status: 500, ..Answer::html(problem("The run cannot be read", &why)) }
        }
    }
}

/// A part of the page of the run named in the path, shared by the viewers who follow the run.
pub fn shared(app: &App, call: &Call, part: Part, content: impl Fn(&Snapshot) -> Markup) -> Answer {
    match app.followed.part(call.name(), part, |snapshot| content(snapshot).into_string()) {
        Some(text) => Answer::of(HTML, text),
        None => with_snapshot(app, call, |snapshot| Answer::html(content(snapshot))),
    }
}
