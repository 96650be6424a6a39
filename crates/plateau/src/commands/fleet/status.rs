//! `plateau fleet status`.

use ::fleet::{Job, State, counts};
use cluster::{Surveyor, Whose};
use serde_json::{Value, json};
use stdx::text::on_one_line;

use crate::cli::{Cli, FleetStatus};
use crate::failure::Done;
use crate::output::places;
use crate::output::printer;

pub fn run(cli: &Cli, options: &FleetStatus) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let (inventory, logs) = (options.inventory.clone(), options.logs.clone());
    let survey = Surveyor::of(options.campaign.clone(), inventory, logs, library, Whose::Mine).survey()?;
    if cli.json {
        if let Some(note) = &survey.note {
            printer::notice(note);
        }
        return printer::print_json(&survey.jobs.iter().map(document).collect());
    }
    let all = counts(survey.jobs.iter().map(|(_, state)| state));
    let mut out = format!("campaign  {}: {all}\n", survey.name);
    if let Some(note) = survey.note {
        out.push_str(&format!("note      {note}\n"));
    }
    let mut drives: Vec<&str> = Vec::new();
    for (job, _) in &survey.jobs {
        if !drives.contains(&job.drive.identity.as_str()) {
            drives.push(&job.drive.identity);
        }
    }
    for drive in drives {
        let of_drive: Vec<&(Job, State)> =
            survey.jobs.iter().filter(|(job, _)| job.drive.identity == drive).collect();
        let place = of_drive.first().map(|(job, _)| format!("{}:{}", job.drive.host, job.drive.path));
        out.push('\n');
        out.push_str(&on_one_line(&format!(
            "{drive}  {}  {}",
            place.unwrap_or_default(),
            counts(of_drive.iter().map(|(_, state)| state))
        )));
        out.push('\n');
        for (job, state) in of_drive.iter().filter(|(_, state)| state.word != State::COMPLETE) {
            out.push_str(&on_one_line(
                format!("  {:<10} {}  {}", state.word, job.id, state.detail).trim_end(),
            ));
            out.push('\n');
        }
    }
    printer::print(&out)
}

fn document((job, state): &(Job, State)) -> Value {
    json!({
        "run": job.id,
        "drive": job.drive.identity,
        "host": job.drive.host,
        "state": state.word,
        "detail": state.detail,
    })
}
