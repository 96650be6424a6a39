//! A planned, waiting or started run: its cost, the data it destroys, and its outcome.

use launch::{Plan, Request};
use maud::{Markup, html};
use serde_json::Value;
use stdx::units::{amount_base10, grouped, span};

use super::account::token;
use super::edition::Edition;
use super::frame::{Page, problem};
use crate::app::{Answer, App, Call};
use crate::starts::{Entry, Stage, Unchanged};

/// The page of an entry; `unchanged` says why it was not started.
pub fn page(app: &App, call: &Call, unchanged: Option<&Unchanged>) -> Answer {
    let Some(entry) = app.starts.one(call.name()) else {
        let text = "This plan is no longer known. Plan it again.";
        return Answer { status: 404, ..Answer::html(problem("No such plan", text)) };
    };
    if let (Stage::Begun(run), None) = (&entry.stage, unchanged) {
        return Answer::see(format!("/runs/{run}"));
    }
    let status = unchanged.map_or(200, Unchanged::status);
    let waits = matches!(entry.stage, Stage::Waiting | Stage::Starting);
    let content = html! {
        h1 { (subject(&entry)) " " span class={ "badge " (entry.stage.word()) } { (entry.stage.word()) } }
        // The script replaces the content while the stage is the same, and otherwise loads the page again.
        div #state data-stage=(entry.stage.word()) aria-live="polite" { (state(&entry)) }
        @if let Some(why) = unchanged { p.mistakes role="alert" { (why.text()) } }
        @if entry.document.is_object() {
            (estimate(&entry, app.starts.has_launcher()))
            (checks(&entry.checks))
        }
        @if call.is_operator() { (forms(call, &entry, app.starts.has_launcher())) }
        section {
            h2 { "Equivalent command line" }
            pre.command { (command(app, &entry)) }
        }
    };
    // If the browser runs no scripts, reloading shows the progress. There is no run to follow yet.
    let follows = waits.then_some("");
    Answer {
        status,
        ..Answer::html(
            Page { title: "Start", section: "Start", follows, edition: Edition::Server, content }.html(),
        )
    }
}

/// Returns a description of an entry.
pub fn subject(entry: &Entry) -> String {
    match &entry.request {
        Request::Start(start) => {
            let plan = match &start.plan {
                Plan::Tests { tests, profile } => format!("{} ({profile})", tests.join(", ")),
                Plan::Preset(preset) => preset.clone(),
                Plan::Text(_) => "own plan".into(),
            };
            format!("{plan} on {}", start.target.path)
        }
        Request::Resume { run, .. } => format!("resume {run}"),
        Request::Restart { run, .. } => format!("restart a test of {run}"),
        Request::Stop { run } => format!("stop {run}"),
    }
}

fn command(app: &App, entry: &Entry) -> String {
    match (&entry.request, &entry.stage) {
        // The identity that the operator must type.
        (Request::Start(start), Stage::Planned) if !start.target.is_simulated() => {
            let mut start = start.clone();
            start.identity = "IDENTITY".into();
            app.starts.command(&Request::Start(start), &entry.name)
        }
        (request, _) => app.starts.command(request, &entry.name),
    }
}

fn state(entry: &Entry) -> Markup {
    html! {
        @match &entry.stage {
            Stage::Planned => p.lead { "Nothing has been started. Check how long the run takes and how much it writes, then type the drive's identity." },
            Stage::Waiting => {
                p.lead { "Waiting until no other run uses the drive. The run then starts automatically." }
                @if let Some(why) = &entry.waits_for { p { (why) } }
            }
            Stage::Starting => {
                p.lead { "The process has been started. It checks the target and, if the plan requires it, \
                          formats it, which can take hours; the run then starts automatically." }
            }
            Stage::Begun(run) => p.lead { "The run has started: " a href=(format!("/runs/{run}")) { (run) } },
            Stage::Failed(why) => {
                p.lead { "The run was not started." }
                pre.mistakes role="alert" { (why) }
                p { a href=(format!("/start?again={}", entry.name)) { "Plan again" } }
            }
        }
        @if !entry.warnings.is_empty() {
            ul.plain { @for warning in &entry.warnings { li { span.mark { "WARNING" } " " (warning) } } }
        }
    }
}

fn estimate(entry: &Entry, has_launcher: bool) -> Markup {
    let document = &entry.document;
    let target = &document["target"];
    let (shortest, longest) = (&document["shortest"], &document["longest"]);
    let words = |key: &str| target[key].as_str().unwrap_or("unknown").to_owned();
    let is_simulated = target["simulated"].is_object();
    let modified: Vec<&str> = texts(&document["modified"]);
    let fact = |name: &str, value: Markup| html! { div { dt { (name) } dd { (value) } } };
    html! {
        dl.numbers {
            (fact("Time", html! { (between(&span(number(shortest, "duration_ns")), &span(number(longest, "duration_ns")))) }))
            (fact("Written", html! { (between(&amount_base10(written(shortest)), &amount_base10(written(longest)))) }))
            (fact("Drive fills", html! { (between(&fills(shortest), &fills(longest))) }))
            @if !is_simulated {
                (fact("Rated endurance used", html! {
                    @match (document["endurance"]["shortest_percent"].as_f64(), document["endurance"]["longest_percent"].as_f64()) {
                        (Some(least), Some(most)) => { (between(&grouped(least, 2), &grouped(most, 2))) " %" }
                        _ => { "unknown: the drive does not report its rating" }
                    }
                }))
            }
            (fact("Steps", html! { (between(&steps(shortest), &steps(longest))) }))
        }
        p.soft { "Shortest: steady state as early as possible. Longest: not reached within the limit on rounds. Speeds: "
            (document["source"].as_str().unwrap_or_default()) "; purge times are not included."
            @if is_simulated { " Times are in the virtual time of the simulated drive, which passes faster than real time." } }
        dl.facts {
            (fact("Target", html! { (words("path")) }))
            (fact("Model", html! { (words("model")) }))
            (fact("Identity", html! { code { (words("identity")) } }))
            (fact("Capacity", html! { (target["capacity_bytes"].as_u64().map(amount_base10).unwrap_or_default()) }))
            (fact("Profile", html! { (document["profile"].as_str().unwrap_or_default()) }))
            (fact("Modified", html! { @if modified.is_empty() { "no" } @else { (modified.join("; ")) } }))
        }
        p class=[document["erase"].is_string().then_some("loss")] {
            b { "Lost: " }
            @if document["erase"].is_string() { "everything on " (words("path")) "." } @else { "nothing; the target contains no data." }
        }
        @let refusals = entry.refusals();
        @if !refusals.is_empty() {
            div.mistakes {
                p { b { "The target cannot be tested now:" } }
                ul { @for refusal in refusals { li { (refusal) } } }
                @if has_launcher { p { "The server made these checks with its own privileges. The launcher \
                                        checks the target again." } }
            }
        }
        div.scroll tabindex="0" role="region" aria-label="Tests" {
            table {
                thead { tr { th { "Test" } th { "Actions" } th.number { "Time" } } }
                tbody {
                    @for test in document["tests"].as_array().into_iter().flatten() {
                        tr {
                            th scope="row" { (test["test"].as_str().unwrap_or_default()) }
                            td { (test["outline"].as_str().unwrap_or_default()) }
                            td.number.times { (between(&span(number(&test["shortest"], "duration_ns")), &span(number(&test["longest"], "duration_ns")))) }
                        }
                    }
                }
            }
        }
    }
}

fn checks(checks: &Value) -> Markup {
    let all = checks["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    // Checks that passed are not listed.
    let notable = |check: &&Value| !matches!(check["verdict"].as_str(), Some("ok" | "not_here"));
    html! {
        @if let Some(why) = checks["error"].as_str() {
            section {
                h2 { "Host checks" }
                p { "It is unknown whether host settings would skew the results, because the checks failed: " (why) }
            }
        } @else if !all.is_empty() {
            section {
                h2 { "Host checks" }
                @if !all.iter().any(|check| notable(&check)) { p { "No host setting would skew the results." } }
                ul.plain {
                    @for check in all.iter().filter(notable) {
                        li {
                            span.mark { (check["verdict"].as_str().unwrap_or_default().replace('_', " ")) } " "
                            b { (check["name"].as_str().unwrap_or_default()) } ": " (check["found"].as_str().unwrap_or_default())
                            @if let Some(fix) = check["fix"].as_str() { br; span.soft { (fix) } }
                        }
                    }
                }
            }
        }
    }
}

fn forms(call: &Call, entry: &Entry, has_launcher: bool) -> Markup {
    let action = format!("/start/{}", entry.name);
    html! {
        @if entry.stage == Stage::Planned && (has_launcher || entry.refusals().is_empty()) {
            form.fields.confirm action=(action) method="post" {
                (token(call))
                label { span { "Type the identity of the drive, " code { (entry.identity()) } ", to start" }
                    input name="identity" autocomplete="off" spellcheck="false" required; }
                button.primary { "Start" }
            }
        }
        @if entry.stage == Stage::Waiting {
            form action=(format!("{action}/withdraw")) method="post" { (token(call)) button { "Withdraw" } }
        }
    }
}

/// Formats a range, or one value; neither value is split across lines.
fn between(least: &str, most: &str) -> String {
    let [least, most] = [least, most].map(|value| value.replace(' ', "\u{a0}"));
    if least == most { least } else { format!("{least} to {most}") }
}

fn number(of: &Value, key: &str) -> u64 {
    of[key].as_u64().unwrap_or(0)
}

fn written(cost: &Value) -> u64 {
    number(cost, "precondition_bytes").saturating_add(number(cost, "estimated_cell_bytes"))
}

fn fills(cost: &Value) -> String {
    grouped(cost["drive_fills"].as_f64().unwrap_or(0.0), 1)
}

fn steps(cost: &Value) -> String {
    grouped(number(cost, "steps") as f64, 0)
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn checks_that_failed_are_not_hidden() {
        let text = checks(&json!({ "error": "it did not respond within a minute" })).into_string();
        assert!(text.contains("checks failed: it did not respond"), "{text}");
        let none = json!({ "checks": [{ "name": "governor", "verdict": "ok", "found": "performance" }] });
        assert!(checks(&none).into_string().contains("No host setting"));
        assert_eq!(checks(&Value::Null).into_string(), "", "nothing was checked");
    }
}
