//! The library's drives and the host's block devices, one line each, and a drive's own page.

use maud::{Markup, html};
use stdx::parallel::both;
use stdx::units::{amount_base10, grouped};

use super::edition::{Edition, link};
use super::frame::{Page, badge, brief, figure, host_limited, marks, moment, problem};
use super::sparkline::sparkline;
use crate::app::{Answer, App, Call};
use crate::devices::Device;
use crate::drives::{Drive, History, Measured, drives};

/// Limit on the runs that the page of a drive lists; a calibration drive may have thousands.
const MOST_RUNS: usize = 100;

/// `/drives`
pub fn list(app: &App, _: &Call) -> Answer {
    // Which processes use the devices takes as long as the runs.
    let (rows, devices) = both(|| app.catalogue.rows(), || app.devices.all());
    let rows = match rows {
        Ok(rows) => rows,
        Err(why) => return Answer { status: 500, ..Answer::html(problem("No library", &why)) },
    };
    let content = html! {
        h1 { "Drives" }
        section {
            h2 { "Tested" }
            @let tested = drives(&rows);
            @if tested.is_empty() { p.empty { "No drive has been tested." } } @else { (tested_table(&tested, Edition::Server)) }
        }
        section {
            h2 { "Block devices of this host" }
            @match devices {
                Ok(devices) if devices.is_empty() => { p.empty { "This host has no block devices." } }
                Ok(devices) => (host_table(&devices)),
                Err(why) => p.empty { (why) },
            }
        }
    };
    Answer::html(
        Page { title: "Drives", section: "Drives", follows: None, edition: Edition::Server, content }.html(),
    )
}

fn tested_table(drives: &[Drive], edition: Edition) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Tested drives" {
            table.cards {
                thead { tr { th { "Drive" } th { "Model" } th.number { "Capacity" } th.number { "Runs" } th { "Latest run" }
                    th { "State" } th { "Latest result" } th { "Trend" } } }
                tbody { @for drive in drives { (tested(drive, edition)) } }
            }
        }
    }
}

fn tested(drive: &Drive, edition: Edition) -> Markup {
    let latest = &drive.runs[0];
    html! {
        tr {
            th scope="row" { a href=(edition.drive(&drive.id)) { (brief(&drive.id)) } }
            td { (brief(drive.model())) }
            td.number { @if latest.file.target.capacity_bytes > 0 { (amount_base10(latest.file.target.capacity_bytes)) } }
            td.number data-label="runs" { (drive.runs.len()) }
            td.date { (moment(latest.file.created)) }
            td { (badge(&latest.state)) " " (marks(latest)) }
            @match drive.most_recent() {
                Some(history) => {
                    @let Measured { row, figure: latest } = &history.latest;
                    td { (figure(latest)) " " (marks(row)) }
                    td { (trend(&history)) }
                }
                None => { td.soft { "none: no run is complete and steady" } td {} }
            }
        }
    }
}

/// The values of a figure as a sparkline; nothing for a single value, which is not a trend.
fn trend(history: &History) -> Markup {
    let values: Vec<f64> = history.values().map(|value| value.figure.value).collect();
    let (Some(first), Some(last), true) = (values.first(), values.last(), values.len() > 1) else {
        return html! {};
    };
    let figure = &history.latest.figure;
    let (decimals, unit) = (figure.decimals, figure.unit.symbol());
    let label = format!(
        "{} over {} runs: from {} to {} {unit}",
        figure.name,
        values.len(),
        grouped(*first, decimals),
        grouped(*last, decimals)
    );
    sparkline(&values, &label)
}

fn host_table(devices: &[Device]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Block devices" {
            table.cards {
                thead { tr { th { "Device" } th { "Kind" } th { "Model" } th { "Identity" } th.number { "Capacity" }
                    th { "Can it be tested?" } } }
                tbody {
                    @for device in devices {
                        tr {
                            th scope="row" { code { (device.path) } }
                            td { (device.kind) }
                            td { (device.model.as_deref().unwrap_or("")) }
                            td data-label="identity" { (device.identity.as_deref().unwrap_or("")) }
                            td.number { (device.capacity_bytes.map(amount_base10).unwrap_or_default()) }
                            td data-label="Can it be tested?" {
                                @match device.refusals.as_slice() {
                                    [] => "yes",
                                    [first, rest @ ..] => {
                                        "no: " (first)
                                        @if !rest.is_empty() {
                                            details { summary { (rest.len()) " more" }
                                                ul { @for reason in rest { li { (reason) } } } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `/drive?id=...`
pub fn one(app: &App, call: &Call) -> Answer {
    let id = call.query("id").unwrap_or_default();
    let all = app.catalogue.rows().map(|rows| drives(&rows)).unwrap_or_default();
    let Some(drive) = all.iter().find(|drive| drive.id == id) else {
        let text = "No run in the library tested this drive.";
        return Answer { status: 404, ..Answer::html(problem("No such drive", text)) };
    };
    Answer::html(of_drive(drive, Edition::Server))
}

/// The published list of drives.
pub fn published(drives: &[Drive]) -> Markup {
    let edition = Edition::Site { up: "" };
    let content = html! { h1 { "Drives" } (tested_table(drives, edition)) };
    Page { title: "Drives", section: "Drives", follows: None, edition, content }.html()
}

/// Mean, drift, control limits and firmware changes of the figures with several values, as `plateau trend` prints them.
fn statistics(histories: &[History]) -> Markup {
    let several: Vec<&History> = histories.iter().filter(|history| history.values().count() > 1).collect();
    html! {
        @if !several.is_empty() {
            section {
                h2 { "Statistics" }
                div.scroll tabindex="0" role="region" aria-label="Statistics" {
                    table {
                        thead { tr { th { "Test" } th { "Figure" } th { "Settings" } th { "Mean, drift and firmware" } } }
                        tbody {
                            @for history in several {
                                tr {
                                    td { (history.latest.figure.test) }
                                    th scope="row" { (history.latest.figure.name) }
                                    td { (history.settings.text()) }
                                    td { @for finding in history.trend().findings() { div { (finding) } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The page of a drive.
pub fn of_drive(drive: &Drive, edition: Edition) -> Markup {
    let content = html! {
        h1 { (drive.model()) }
        p.soft { "Identity " code { (drive.id) } }
        @let histories = drive.histories();
        @if !histories.is_empty() {
            section {
                h2 { "Results of complete runs" }
                div.scroll tabindex="0" role="region" aria-label="Results" {
                    table.cards {
                        thead { tr { th { "Test" } th { "Figure" } th { "Settings" } th.number { "Latest" } th { "Unit" } th { "Marks" } th.number { "Runs" } th { "Trend" } } }
                        tbody {
                            @for history in &histories {
                                tr {
                                    @let Measured { row, figure } = &history.latest;
                                    td { (figure.test) }
                                    th scope="row" { (figure.name) }
                                    td { (history.settings.text()) }
                                    td.number.latest { (grouped(figure.value, figure.decimals)) (host_limited(figure)) }
                                    td.unit { (figure.unit.symbol()) }
                                    td { (marks(row)) }
                                    td.number data-label="runs" { (history.values().count()) }
                                    td { (trend(history)) }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if histories.is_empty() {
            p.empty { "No run of this drive is complete and steady, so there are no results yet." }
        }
        (statistics(&histories))
        section {
            h2 { "Runs" }
            ul.plain {
                @for row in drive.runs.iter().take(MOST_RUNS) {
                    li {
                        a href=(edition.run(&row.file.id)) { (row.file.id) } " "
                        span.soft { (moment(row.file.created)) } " " (badge(&row.state)) " " (marks(row))
                        @if let Some(firmware) = &row.file.target.firmware { " " span.soft { "firmware " (firmware) } }
                    }
                }
            }
            (further(drive, edition))
        }
    };
    Page { title: drive.model(), section: "Drives", follows: None, edition, content }.html()
}

/// Says how many runs of a drive its page does not list.
fn further(drive: &Drive, edition: Edition) -> Markup {
    let count = drive.runs.len();
    html! {
        @if count > MOST_RUNS {
            @match edition {
                Edition::Server => p.links { a href=(link("/", &[("drive", &drive.id)])) { "All " (count) " runs" } },
                Edition::Site { .. } => p.soft { "The latest " (MOST_RUNS) " of " (count) " runs; " a href=(edition.home()) { "all runs" } },
            }
        }
    }
}
