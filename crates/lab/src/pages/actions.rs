//! The actions available to an operator for a run.

use launch::Request;
use maud::{Markup, html};
use pts::Standing;
use record::Event;

use super::account::token;
use crate::app::Call;
use crate::snapshot::Snapshot;

/// The forms at the bottom of a run's page, with the equivalent command lines. An archived run cannot be resumed.
pub fn actions(call: &Call, snapshot: &Snapshot) -> Markup {
    let file = &snapshot.run.file;
    let id = file.id.as_str();
    let is_running = snapshot.standing == Standing::Running;
    let is_interrupted = snapshot.standing == Standing::Incomplete && file.origin.is_none();
    if call.is_operator() && is_interrupted && snapshot.run.is_archived() {
        return html! {
            section.actions {
                h2 { "Actions" }
                p.soft { "This run is archived. To resume it, first restore its directory: "
                    code { "plateau unarchive " (id) } }
            }
        };
    }
    if !call.is_operator() || !(is_running || is_interrupted) {
        return html! {};
    }
    if !matches!(transfer::mark_of(&snapshot.run), Ok(None)) {
        return html! {
            section.actions {
                p.soft { "This run is a copy. Stop or resume the original on the host that it comes from." }
            }
        };
    }
    html! {
        section.actions {
            h2 { "Actions" }
            @if is_running {
                form action=(format!("/runs/{id}/stop")) method="post" {
                    (token(call))
                    button { "Stop" } " "
                    span.soft { "Like Ctrl-C: the current cell is abandoned, and the run can be resumed." }
                }
            } @else {
                form.fields action=(format!("/runs/{id}/resume")) method="post" {
                    (token(call))
                    @if file.target.simulated.is_none() {
                        label { "Identity, if requested" input name="identity" autocomplete="off"; }
                    }
                    button { "Resume" }
                    button formaction=(format!("/runs/{id}/restart")) { "Restart the interrupted test" }
                }
                p.soft { "Resuming continues after the last complete cell, which is reported as a deviation; \
                          restarting repeats the interrupted test from its purge. Equivalent command line: "
                    code { (command(&Request::Resume { run: id.into(), identity: None })) } " or "
                    code { (command(&Request::Restart { run: id.into(), identity: None })) } }
            }
        }
    }
}

fn command(request: &Request) -> String {
    launch::words(request, std::path::Path::new("")).map(|words| launch::as_typed(&words)).unwrap_or_default()
}

/// Returns how many times a run was resumed.
pub fn times_resumed(snapshot: &Snapshot) -> usize {
    snapshot.loaded.entries.iter().filter(|entry| matches!(entry.event, Event::Resumed { .. })).count()
}
