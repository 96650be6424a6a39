//! Campaigns: which job runs where, what each waits for, and what failed and why, by drive.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::{Value, json};

use super::edition::Edition;
use super::frame::Page;
use crate::app::{Answer, App, Call};
use crate::campaigns::{Campaign, CampaignJob, counts};

/// `/fleet`
pub fn page(app: &App, _: &Call) -> Answer {
    let campaigns = app.campaigns.all();
    let rows = app.catalogue.rows().unwrap_or_default();
    let known: BTreeSet<&str> = rows.iter().map(|row| row.file.id.as_str()).collect();
    let content = html! {
        h1 { "Fleet" }
        @if campaigns.is_empty() {
            p.empty { "This server was not started with a campaign of jobs on the drives of several hosts." }
        }
        @for campaign in &campaigns {
            section {
                @match campaign {
                    Ok(campaign) => (of_campaign(campaign, &known)),
                    Err(why) => { h2 { "A campaign that cannot be read" } p { (why) } }
                }
            }
        }
    };
    Answer::html(
        Page { title: "Fleet", section: "Fleet", follows: None, edition: Edition::Server, content }.html(),
    )
}

/// `known` are the runs in the library.
fn of_campaign(campaign: &Campaign, known: &BTreeSet<&str>) -> Markup {
    let label = format!("Jobs of {}", campaign.name);
    html! {
        h2 { (campaign.name) }
        p { (counts(&campaign.jobs.iter().collect::<Vec<_>>())) }
        @if let Some(note) = &campaign.note { p.soft { (note) } }
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr { th { "Run" } th { "State" } th { "Where, or why" } } }
                @for (drive, jobs) in campaign.by_drive() {
                    tbody {
                        tr {
                            th colspan="3" scope="rowgroup" {
                                (drive.drive) " " span.soft { (drive.place) " " (counts(&jobs)) }
                            }
                        }
                        @for job in jobs { (of_job(job, known.contains(job.run.as_str()))) }
                    }
                }
            }
        }
    }
}

fn of_job(job: &CampaignJob, has_run: bool) -> Markup {
    html! {
        tr {
            td {
                @if has_run { a href=(Edition::Server.run(&job.run)) { (job.run) } } @else { (job.run) }
            }
            td { span class={ "badge " (job.state) } { (job.state) } }
            td { (job.detail) }
        }
    }
}

/// `/api/fleet`
pub fn document(app: &App, _: &Call) -> Answer {
    Answer::json(&app.campaigns.all().iter().map(of_result).collect::<Value>())
}

fn of_result(campaign: &Result<Campaign, String>) -> Value {
    match campaign {
        Err(why) => json!({ "campaign": null, "problem": why }),
        Ok(campaign) => json!({
            "campaign": campaign.name,
            "problem": campaign.note,
            "jobs": campaign.jobs.iter().map(|job| json!({
                "run": job.run,
                "drive": job.drive,
                "place": job.place,
                "state": job.state,
                "detail": job.detail,
            })).collect::<Vec<_>>(),
        }),
    }
}
