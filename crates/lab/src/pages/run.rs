//! The page of a run: live while it is in progress, a summary with downloads when it is not.

use maud::{Markup, PreEscaped, html};
use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT};
use pts::{Outcome, Standing};
use stdx::units::{amount_base10, grouped};

use super::frame::{Page, age, badge, moment, problem};
use super::picture;
use super::sparkline::sparkline;
use crate::app::{Answer, App, Call};
use crate::assets;
use crate::catalogue::State;
use crate::live::{Live, Place, Variable, estimate_text};
use crate::snapshot::Snapshot;

/// Values of the latest cells in a small line.
const TEMPERATURES: usize = 60;

/// `/runs/{id}`
pub fn page(app: &App, call: &Call) -> Answer {
    with_snapshot(app, call, |snapshot| {
        let is_running = snapshot.standing == Standing::Running;
        let id = &snapshot.run.file.id;
        let content = html! {
            div #live data-record=[snapshot.last_record()] { (content(snapshot)) }
            (downloads(id))
        };
        let follows = is_running.then_some(id.as_str());
        Answer::html(Page { title: id, section: "/", follows, content }.html())
    })
}

/// `/runs/{id}/live`: the part of the page that changes.
pub fn part(app: &App, call: &Call) -> Answer {
    with_snapshot(app, call, |snapshot| Answer::html(content(snapshot)))
}

/// `/runs/{id}/page`: the page as one file that needs no server.
pub fn file(app: &App, call: &Call) -> Answer {
    with_snapshot(app, call, |snapshot| {
        let id = &snapshot.run.file.id;
        let page = html! {
            (maud::DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                    title { (id) " - Plateau" }
                    style { (PreEscaped(assets::STYLE)) }
                }
                body { main { (content(snapshot)) } footer { "Saved " (moment(record::wall_now())) } }
            }
        };
        Answer { save_as: Some(format!("{id}.html")), ..Answer::html(page) }
    })
}

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

fn content(snapshot: &Snapshot) -> Markup {
    let live = Live::of(snapshot);
    let file = &snapshot.run.file;
    let current = current(snapshot, &live);
    html! {
        h1 { (file.labels.name.as_deref().unwrap_or(&file.id)) " " (badge(&State::Known(snapshot.standing))) }
        p.target { (file.target_line()) }
        p.banners {
            @if file.target.simulated.is_some() { span.mark { "SIMULATED" } " not a real device " }
            @if file.origin.is_some() { span.mark { "IMPORTED" } " not measured by Plateau " }
            @if !snapshot.replayed.modified.is_empty() {
                span.mark { "MODIFIED" } " deviates from " (file.profile) " (see Details) "
            }
        }
        p.lead { (live.sentence) }
        @if snapshot.standing == Standing::Running { (course(&live)) }
        (figures(snapshot, &live))
        @if !live.variables.is_empty() { (window(&live.variables)) }
        @if let Some(outcome) = current { (pages(outcome, snapshot.standing)) }
        (details(snapshot))
    }
}

/// The test that the page is about: the current one, or the last one.
fn current<'a>(snapshot: &'a Snapshot, live: &Live<'_>) -> Option<&'a Outcome> {
    let outcomes = &snapshot.replayed.outcomes;
    let by_phase = outcomes.iter().find(|outcome| Some(outcome.test.as_str()) == live.phase.test());
    by_phase.or_else(|| outcomes.last())
}

fn course(live: &Live<'_>) -> Markup {
    html! {
        ol.course aria-label="Course of the run" {
            @for step in &live.steps {
                @let (class, word) = match step.place {
                    Place::Done => ("done", "completed"),
                    Place::Now => ("now", "in progress"),
                    Place::Ahead => ("ahead", "not started"),
                };
                li class=(class) { (step.name) span.hidden { ", " (word) } }
            }
        }
    }
}

fn figures(snapshot: &Snapshot, live: &Live<'_>) -> Markup {
    let file = &snapshot.run.file;
    let now = record::wall_now();
    let is_running = snapshot.standing == Standing::Running;
    let one = |name: &str, value: Markup| html! { div { dt { (name) } dd { (value) } } };
    let temperatures: Vec<f64> = live.temperatures.iter().map(|(_, celsius)| *celsius).collect();
    let recent = &temperatures[temperatures.len().saturating_sub(TEMPERATURES)..];
    html! {
        dl.numbers {
            @if is_running {
                (one("Running for", html! { (age(file.created, now)) }))
                (one("Time left", html! { @match live.left_ns { Some(left) => (estimate_text(left)), None => "unknown" } }))
            } @else {
                (one("Started", html! { (moment(file.created)) }))
            }
            @if let Some(segment) = live.latest {
                (one("Latest workload", html! { (segment.workload) }))
                (one("IOPS", html! { (grouped(segment.iops(), 1)) @if segment.is_host_limited() { abbr title="The host may have limited this figure" { "*" } } }))
                (one("Throughput", html! { (grouped(segment.megabytes_per_second(), 1)) " MB/s" }))
                @if let Some(mean) = segment.mean_latency_ms() { (one("Mean response time", html! { (grouped(mean, 3)) " ms" })) }
            }
            (one("Written by tests", html! {
                (amount_base10(live.written_bytes))
                @if let Some((shortest, longest)) = live.expected_written_bytes {
                    span.soft { " of " (amount_base10(shortest)) @if longest > shortest { " to " (amount_base10(longest)) } }
                }
            }))
            @if let Some(health) = live.health {
                @if let Some(celsius) = health.temperature_celsius {
                    (one("Temperature", html! {
                        (celsius) " \u{b0}C "
                        @if recent.len() > 1 { (sparkline(recent, &format!("Temperature, {} readings", recent.len()))) }
                    }))
                }
                @if let Some(used) = health.percentage_used { (one("Endurance used", html! { (used) " %" })) }
            }
            @if let Some(entry) = snapshot.loaded.entries.last() {
                (one("Last record", html! { "number " (entry.seq) @if is_running { ", " (age(entry.wall, now)) " ago" } }))
            }
        }
    }
}

fn window(variables: &[Variable]) -> Markup {
    html! {
        section {
            h2 { "Steady-state window" }
            p.soft { "The last five rounds of each tracking variable. Steady: range at most 20 % and slope at most 10 % of the mean." }
            div.scroll tabindex="0" role="region" aria-label="Steady-state window" {
                table {
                    thead { tr { th { "Variable" } th { "Values, oldest first" } th { "Range" } th { "Slope" } th { "Status" } } }
                    tbody { @for variable in variables { (window_row(variable)) } }
                }
            }
        }
    }
}

fn window_row(variable: &Variable) -> Markup {
    let values = variable.window();
    let list: Vec<String> =
        values.iter().map(|(_, value)| grouped(*value, if *value < 10.0 { 3 } else { 1 })).collect();
    html! {
        tr {
            th scope="row" { (variable.name) }
            td.values { (list.join("  ")) }
            @match variable.shares {
                Some((range, slope)) => { td { (limit(range, RANGE_LIMIT)) } td { (limit(slope, SLOPE_LIMIT)) } }
                None => { td.soft { "after five rounds" } td.soft { "after five rounds" } }
            }
            td.status { @if variable.steady { "steady" } @else { (variable.text) } }
        }
    }
}

/// A bar that is full at the limit.
fn limit(share: f64, allowed: f64) -> Markup {
    const WIDTH: f64 = 90.0;
    let filled = (share / allowed).clamp(0.0, 1.0) * WIDTH;
    let class = if share <= allowed { "bar within" } else { "bar beyond" };
    html! {
        svg class=(class) viewBox="0 0 90 8" width=(WIDTH) height="8" aria-hidden="true" {
            rect.whole width=(WIDTH) height="8" rx="2" {}
            rect.filled width=(format!("{filled:.1}")) height="8" rx="2" {}
        }
        " " (grouped(share * 100.0, 1)) " % of " (grouped(allowed * 100.0, 0)) " %"
    }
}

/// The exhibits of a test. While it runs, those without any value are left out by the test itself.
fn pages(outcome: &Outcome, standing: Standing) -> Markup {
    html! {
        section {
            h2 { (outcome.title) @if standing == Standing::Running { " so far" } }
            @for note in &outcome.notes { p.note { (note) } }
            @for page in &outcome.pages { (picture::page(page)) }
        }
    }
}

fn details(snapshot: &Snapshot) -> Markup {
    let file = &snapshot.run.file;
    let deviations = pts::texts(&snapshot.replayed.modified);
    html! {
        section {
            h2 { "Details" }
            @if !deviations.is_empty() {
                h3 { "Modified" }
                ul { @for deviation in deviations { li { (deviation) } } }
            }
            dl.facts {
                div { dt { "Run" } dd { code { (file.id) } } }
                div { dt { "Profile" } dd { (file.profile) } }
                div { dt { "Command line" } dd { code { (file.command.join(" ")) } } }
                div { dt { "Plateau" } dd { (file.plateau_version) } }
                @if !file.labels.tags.is_empty() { div { dt { "Tags" } dd { (file.labels.tags.join(", ")) } } }
                @for note in &file.labels.notes { div { dt { "Note" } dd { (note) } } }
            }
        }
    }
}

fn downloads(id: &str) -> Markup {
    html! {
        section {
            h2 { "Files" }
            p.links {
                a href=(format!("/runs/{id}/report")) { "Report" } " "
                a href=(format!("/runs/{id}/page")) { "This page as one file" } " "
                @for format in report::formats::FORMATS {
                    @if let report::formats::Make::File(_) = format.make {
                        a href=(format!("/runs/{id}/export/{}", format.name)) title=(format.about) { (format.name) } " "
                    }
                }
                a href=(format!("/api/runs/{id}")) { "API" }
            }
        }
    }
}
