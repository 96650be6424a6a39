//! The run that the path of an address names.

use super::frame::problem;
use crate::app::{Answer, App, Call};
use crate::snapshot::Snapshot;

/// Calls `show` with the current snapshot of the run that the path names.
pub fn with_snapshot(app: &App, call: &Call, show: impl FnOnce(&Snapshot) -> Answer) -> Answer {
    let Some(run) = app.catalogue.run(call.name()) else {
        let text = "This library does not contain that run.";
        return Answer { status: 404, ..Answer::html(problem("No such run", text)) };
    };
    match app.snapshots.of(run) {
        Ok(snapshot) => show(&snapshot),
        Err(why) => Answer { status: 500, ..Answer::html(problem("The run cannot be read", &why)) },
    }
}
