//! The page of a run that is not complete: live while it is in progress, and otherwise with what can be done.

use std::ffi::OsString;

use estimate::phase::Phase;
use maud::{Markup, PreEscaped, html};
use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS};
use pts::{Outcome, Standing};
use record::{Segment, TargetKind};
use report::formats::Format;
use stdx::units::{CELSIUS, amount_base10, grouped};

use super::actions;
use super::edition::{Edition, WIDTH, Width, file_formats};
use super::exhibits;
use super::frame::{Page, age, badge, milliseconds, moment, with_code};
use super::labels;
use super::matrix;
use super::opened::{shared, with_snapshot};
use super::plot;
use super::second;
use super::sparkline::sparkline;
use super::timeline::{self, Source};
use crate::app::{Answer, App, Call};
use crate::assets;
use crate::catalogue::State;
use crate::live::{Live, Place, Variable, estimate_text};
use crate::parts::Part;
use crate::snapshot::Snapshot;

/// Number of rounds before the current one shown as separate segments.
const MOST_ROUNDS: u32 = 10;
/// Number of expected rounds shown after the current round.
const MOST_AHEAD: u32 = 6;
/// Maximum number of tracking variables shown.
const MOST_VARIABLES: usize = 40;
/// Number of most recent cells in the sparkline.
const TEMPERATURES: usize = 60;

/// The page of a run, with a `problem` that must be shown.
pub fn page(app: &App, call: &Call, snapshot: &Snapshot, problem: Option<&str>) -> Answer {
    let is_running = snapshot.standing == Standing::Running;
    let id = &snapshot.run.file.id;
    let content = html! {
        @if let Some(problem) = problem { div.mistakes { p { "There is no report: " (problem) } } }
        div #live data-record=[snapshot.last_record()] { (self::content(snapshot, Source::Linked(Edition::Server))) }
        (actions::actions(call, snapshot))
        (labels::forms(app, call, snapshot))
        (files(id, &file_formats().collect::<Vec<_>>(), Edition::Server))
    };
    let follows = is_running.then_some(id.as_str());
    Answer::html(Page { title: id, section: "Runs", follows, edition: Edition::Server, content }.html())
}

/// The published page of a run that is not complete, with links to its `exports`.
pub fn published(snapshot: &Snapshot, exports: &[&Format]) -> Markup {
    let (id, edition) = (&snapshot.run.file.id, Edition::Site { up: "../" });
    let content = html! { (content(snapshot, Source::Linked(edition))) (files(id, exports, edition)) };
    Page { title: id, section: "Runs", follows: None, edition, content }.html()
}

/// `/runs/{id}/live`: the part of the page that changes.
pub fn part(app: &App, call: &Call) -> Answer {
    let width = call.query(WIDTH).and_then(Width::named);
    let source = width.map_or(Source::Linked(Edition::Server), Source::Part);
    shared(app, call, Part::Record(width), |snapshot| content(snapshot, source))
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
                body { main { (content(snapshot, Source::Inline)) } footer { "Saved " (moment(record::wall_now())) } }
            }
        };
        Answer { save_as: Some(format!("{id}.html")), ..Answer::html(page) }
    })
}

fn content(snapshot: &Snapshot, source: Source) -> Markup {
    let live = Live::of(snapshot);
    let file = &snapshot.run.file;
    let current = current(snapshot, &live);
    let is_running = snapshot.standing == Standing::Running;
    html! {
        section.top {
            p.banners {
                (badge(&State::Known(snapshot.standing))) " "
                @if let Some(sim) = &file.target.simulated {
                    span.mark { "SIMULATED scale 1/" (sim.scale_divisor) } " "
                }
                @if file.origin.is_some() { span.mark { "IMPORTED" } " not measured by Plateau " }
                @if !snapshot.replayed.modified.is_empty() {
                    span.mark title=(format!("deviates from {}; see Details", file.profile)) { "MODIFIED" } " "
                }
                @if live.latest.is_some_and(record::Segment::is_host_limited) { span.mark { "HOST-LIMITED" } " " }
                @for tag in &file.labels.tags { span.tag { (tag) } " " }
            }
            h1 { (file.labels.name.as_deref().unwrap_or(&file.id)) }
            p.target { (file.tests.join(", ")) " \u{b7} " (file.profile) " \u{b7} " (file.target_line()) }
            @if let Some(origin) = origin(snapshot) { p.soft.origin { (origin) } }
            p.lead { (with_code(&live.sentence)) }
            @if is_running { (strip(&live)) }
            p.soft { (times(snapshot, &live)) }
        }
        (figures(snapshot, &live))
        div #second { (second::content(snapshot)) }
        @if !live.variables.is_empty() { (window(&live)) }
        @if is_running { (matrix::round(snapshot, &live)) }
        (timeline::section(snapshot, source))
        // Charts are omitted until the first round ends, because they would be empty.
        @if let Some(outcome) = current.filter(|_| !is_before_results(&live)) { (pages(snapshot, outcome, source)) }
        @if source.edition() == Some(Edition::Server) { (other_tests(snapshot, current)) }
        (details(snapshot))
    }
}

/// Returns where a copy comes from, and how long ago its source last sent data; None for a run made on this
/// host.
pub fn origin(snapshot: &Snapshot) -> Option<String> {
    let mark = match transfer::mark_of(&snapshot.run) {
        Ok(mark) => mark?,
        Err(_) => return Some(format!("a copy, but {} cannot be read", transfer::COPIED)),
    };
    let received = age(mark.last, record::wall_now());
    Some(format!("{} \u{b7} last received {received} ago", mark.words()))
}

/// Returns whether the current test has no results yet.
const fn is_before_results(live: &Live<'_>) -> bool {
    let is_early = matches!(
        live.phase,
        Phase::Purge { .. } | Phase::Preconditioning { .. } | Phase::Round { round: 1, .. }
    );
    is_early && live.variables.is_empty()
}

/// Formats the time left, the start time and the age of the journal on one line.
fn times(snapshot: &Snapshot, live: &Live<'_>) -> String {
    let (file, now) = (&snapshot.run.file, record::wall_now());
    let is_running = snapshot.standing == Standing::Running;
    let left = live.left_ns.filter(|_| is_running).map(|left| format!("{} left", estimate_text(left)));
    let running = is_running.then(|| format!("running for {}", age(file.created, now)));
    let last = snapshot.loaded.entries.last().map(|entry| match is_running {
        true => format!("journal record {}, {} old", entry.seq, age(entry.wall, now)),
        false => format!("{} journal records", entry.seq + 1),
    });
    let parts = [left, running, Some(format!("started {}", moment(file.created))), last];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" \u{b7} ")
}

/// Returns the test that the page is about: the current test, or the last test.
fn current<'a>(snapshot: &'a Snapshot, live: &Live<'_>) -> Option<&'a Outcome> {
    let outcomes = &snapshot.replayed.outcomes;
    let by_phase = outcomes.iter().find(|outcome| Some(outcome.test.as_str()) == live.phase.test());
    by_phase.or_else(|| outcomes.last())
}

/// The progress of the run: the parts of the current test in order. Parts that may not be needed are hatched.
fn strip(live: &Live<'_>) -> Markup {
    let round = match &live.phase {
        Phase::Round { round, cell, cells, .. } => {
            Some((*round, f64::from(cell - 1) / f64::from((*cells).max(1))))
        }
        _ => None,
    };
    // Earlier rounds are merged into one part so that all parts fit.
    let first = round.map_or(1, |(round, _)| round.saturating_sub(MOST_ROUNDS).max(1));
    let expected = live.variables.iter().map(|variable| variable.forecast).max().flatten();
    let fixed = live.fixed_rounds;
    let most = fixed.map_or(u32::MAX, |fixed| fixed.count).min(expected.unwrap_or(0));
    let name = fixed.map_or("round", |fixed| fixed.name);
    html! {
        ol.strip aria-label="Progress of the run" {
            @for step in &live.steps {
                @match (step.place, round) {
                    (Place::Now, Some((round, share))) => {
                        @if first > 1 { li.done { (name) "s 1 to " (first - 1) span.hidden { ", completed" } } }
                        @for done in first..round { li.done { (done) span.hidden { ", completed" } } }
                        li.now {
                            progress max="1" value=(format!("{share:.3}")) {}
                            span { (name) " " (round) } span.hidden { ", in progress" }
                        }
                        @for ahead in round.saturating_add(1)..=most.min(round.saturating_add(MOST_AHEAD)) {
                            li.ahead { (ahead) "?" span.hidden { ", expected" } }
                        }
                        @match fixed {
                            Some(fixed) if round < fixed.count => li.ahead { "up to " (fixed.count) span.hidden { ", not started" } },
                            None if expected.is_none() => li.ahead { "further rounds?" },
                            _ => {}
                        }
                    }
                    (Place::Done, _) => li.done { (step.name) span.hidden { ", completed" } },
                    (Place::Now, None) => li.now { span { (step.name) } span.hidden { ", in progress" } },
                    (Place::Ahead, _) => li.ahead { (step.name) span.hidden { ", not started" } },
                }
            }
        }
    }
}

fn figures(snapshot: &Snapshot, live: &Live<'_>) -> Markup {
    let is_running = snapshot.standing == Standing::Running;
    let one = |name: &str, value: Markup| html! { div { dt { (name) } dd { (value) } } };
    let temperatures: Vec<f64> = live.temperatures.iter().map(|(_, celsius)| *celsius).collect();
    let recent = &temperatures[temperatures.len().saturating_sub(TEMPERATURES)..];
    html! {
        dl.numbers {
            @if let Some(segment) = live.latest.filter(|_| is_running) {
                (one(&format!("IOPS, {}", segment.workload), html! { (grouped(segment.iops(), 0)) @if segment.is_host_limited() { abbr title="The host may have limited this figure" { "*" } } }))
                @if let Some(slowest) = percentile_ms(segment) { (one("99th percentile of response times", html! { (milliseconds(slowest)) })) }
                (one("Throughput", html! { (grouped(segment.megabytes_per_second(), 1)) " MB/s" }))
            }
            @if let Some(celsius) = live.health.and_then(|health| health.temperature_celsius) {
                (one("Temperature", html! {
                    (celsius) " " (CELSIUS) " "
                    @if recent.len() > 1 { (sparkline(recent, &format!("Temperature, {} readings", recent.len()))) }
                }))
            }
            @if let Some(amplification) = amplification(live) { (one("Write amplification", html! { (grouped(amplification, 2)) })) }
            // The file of an imported run does not say how many bytes were written.
            @if snapshot.run.file.target.kind != TargetKind::Imported {
                (one("Written by completed loads", html! {
                    (amount_base10(live.written_bytes))
                    @if let Some((shortest, longest)) = live.expected_written_bytes {
                        @if live.written_bytes > longest {
                            span.soft { ", more than the estimated " (amount_base10(longest)) }
                        } @else {
                            span.soft { " of " (amount_base10(shortest)) @if longest > shortest { " to " (amount_base10(longest)) } }
                        }
                    }
                }))
            }
            @if let Some(used) = live.health.and_then(|health| health.percentage_used) { (one("Rated endurance used", html! { (used) " %" })) }
        }
    }
}

/// Returns the 99th percentile of a workload's response times.
fn percentile_ms(segment: &Segment) -> Option<f64> {
    let mut all = segment.read.latency.clone();
    all.merge(&segment.write.latency);
    all.quantile(0.99).map(|ns| ns as f64 / 1e6)
}

/// Returns the bytes written to flash per byte written by the host, over the drive's life.
fn amplification(live: &Live<'_>) -> Option<f64> {
    let health = live.health?;
    let (flash, host) = (health.media_written_bytes?, health.host_written_bytes?);
    (host > 0 && flash > 0).then(|| flash as f64 / host as f64)
}

fn window(live: &Live<'_>) -> Markup {
    let variables = &live.variables;
    // The variable with the largest excess; the first one if several are equal.
    let worst = variables.iter().rev().max_by(|a, b| a.excess().total_cmp(&b.excess()));
    let mut shown: Vec<&Variable> = variables.iter().collect();
    if shown.len() > MOST_VARIABLES {
        shown.sort_by(|a, b| b.excess().total_cmp(&a.excess()));
        shown.truncate(MOST_VARIABLES);
    }
    let measuring = match &live.phase {
        Phase::Round { round, .. } => Some(*round),
        _ => None,
    };
    html! {
        @if let Some(worst) = worst {
            div.split {
                section.box {
                    h2 { "Tracking variable " (worst.name) ", by round" }
                    (plot::rounds(worst, measuring))
                    p.soft { "Shaded: mean of the window \u{b1} 10 %. Dashed: fitted line. Dotted: extrapolation." }
                }
                section.box {
                    h2 { "Steady-state criterion" }
                    (criteria(worst))
                    p { @if worst.steady { "Steady." } @else if worst.text.is_empty() { "Not steady yet." } @else { "Not steady yet: " (worst.text) "." } }
                }
            }
        }
        section {
            h2 { "Steady-state window" }
            p.soft {
                "The last five rounds of each tracking variable. Steady: range at most 20 % and slope at most 10 % of the mean."
                @if shown.len() < variables.len() {
                    " Shown are the " (shown.len()) " of " (variables.len()) " variables that are farthest from it."
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Steady-state window" {
                table.cards {
                    thead { tr { th { "Variable" } th { "Values, oldest first" } th { "Range" } th { "Slope" } th { "Status" } } }
                    tbody { @for variable in shown { (window_row(variable)) } }
                }
            }
        }
    }
}

/// Shows range, slope and number of rounds next to their limits.
fn criteria(variable: &Variable) -> Markup {
    let rounds = variable.window().len();
    let row = |name: &str, share: Option<f64>, allowed: f64, text: String| {
        let (mark, class) = match share {
            Some(share) if share <= allowed => ("\u{2713}", "within"),
            Some(_) => ("\u{2717}", "beyond"),
            None => ("", "open"),
        };
        html! {
            div class={ "criterion " (class) } {
                span { (name) }
                b { (mark) " " (text) }
                (plot::bar(share.unwrap_or(0.0) / allowed, class))
            }
        }
    };
    let percent = |share: f64| grouped(share * 100.0, 1);
    let text = |share: Option<f64>, allowed: f64| match share {
        Some(share) => format!("{} % of {} %", percent(share), grouped(allowed * 100.0, 0)),
        None => "after five rounds".to_owned(),
    };
    let (range, slope) = (variable.shares.map(|shares| shares.0), variable.shares.map(|shares| shares.1));
    let is_full = rounds >= WINDOW_ROUNDS;
    let (mark, class) = if is_full { ("\u{2713}", "within") } else { ("", "open") };
    html! {
        (row("Range of the window", range, RANGE_LIMIT, text(range, RANGE_LIMIT)))
        (row("Slope over the window", slope, SLOPE_LIMIT, text(slope, SLOPE_LIMIT)))
        div class={ "criterion " (class) } {
            span { "Rounds in the window" }
            b { (mark) " " (rounds) " of " (WINDOW_ROUNDS) }
            (plot::bar(rounds as f64 / WINDOW_ROUNDS as f64, class))
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
                Some((range, slope)) => {
                    td data-label="range" { (limit(range, RANGE_LIMIT)) }
                    td data-label="slope" { (limit(slope, SLOPE_LIMIT)) }
                }
                None => {
                    td.soft data-label="range" { "after five rounds" }
                    td.soft data-label="slope" { "after five rounds" }
                }
            }
            td.status { @if variable.steady { "steady" } @else { (variable.text) } }
        }
    }
}

/// A bar that is full when the value reaches its limit.
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

/// The exhibits of a test. While the test is running, `outcome` does not contain exhibits without values.
fn pages(snapshot: &Snapshot, outcome: &Outcome, source: Source) -> Markup {
    html! {
        section {
            h2 { (outcome.title) @if snapshot.standing == Standing::Running { " so far" } }
            @for note in &outcome.notes { p.note { (note) } }
            @match source.edition() {
                Some(edition) => (exhibits::first(&snapshot.run.file.id, outcome, edition, source.width())),
                None => (exhibits::all(outcome)),
            }
        }
    }
}

/// Links to the exhibits of the tests other than the current one.
fn other_tests(snapshot: &Snapshot, current: Option<&Outcome>) -> Markup {
    let outcomes = snapshot.replayed.outcomes.iter();
    let others = outcomes
        .filter(|other| !other.pages.is_empty() && !current.is_some_and(|own| std::ptr::eq(*other, own)));
    let others: Vec<&Outcome> = others.collect();
    html! {
        @if !others.is_empty() {
            section {
                h2 { "Other tests of this run" }
                p.links { @for other in others { (exhibits::of_test(&snapshot.run.file.id, other)) " " } }
            }
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
            h3 { "Equivalent command line" }
            pre.command { (launch::as_typed(&file.command.iter().skip(1).map(OsString::from).collect::<Vec<_>>())) }
            dl.facts {
                div { dt { "Run" } dd { code { (file.id) } } }
                div { dt { "Profile" } dd { (file.profile) } }
                div { dt { "Plateau" } dd { (file.plateau_version) } }
                @if !file.labels.tags.is_empty() { div { dt { "Tags" } dd { (file.labels.tags.join(", ")) } } }
                @for note in &file.labels.notes { div { dt { "Note" } dd { (note) } } }
            }
        }
    }
}

/// The links to the files of a run.
pub fn files(id: &str, formats: &[&Format], edition: Edition) -> Markup {
    html! {
        section {
            h2 { "Files" }
            p.links {
                @if edition == Edition::Server || formats.iter().any(|format| format.name == "html") {
                    a href=(edition.report(id)) { "Report" } " "
                }
                @if edition == Edition::Server { a href=(format!("/runs/{id}/page")) { "This page as one file" } " " }
                // On a published site, the HTML file is the report, which has its own link or is the page itself.
                @for format in formats.iter().filter(|format| edition == Edition::Server || format.name != "html") {
                    a href=(edition.export(id, format)) title=(format.about) { (format.name) } " "
                }
                @if edition == Edition::Server { a href=(format!("/api/runs/{id}")) { "API" } }
            }
        }
    }
}
