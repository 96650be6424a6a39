//! A survey as text and as JSON.

use fleet::{Job, State, counts};
use serde_json::{Value, json};
use stdx::text::on_one_line;

use crate::survey::Survey;

/// Returns the jobs by drive: how many are in each state, and the jobs that are not complete.
#[must_use]
pub fn text(survey: &Survey) -> String {
    let all = counts(survey.jobs.iter().map(|(_, state)| state));
    let mut out = format!("campaign  {}: {all}\n", survey.name);
    if let Some(note) = &survey.note {
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
        let states = counts(of_drive.iter().map(|(_, state)| state));
        let heading = format!("{drive}  {}  {states}", place.unwrap_or_default());
        let pending = of_drive.iter().filter(|(_, state)| state.word != State::COMPLETE);
        let lines = pending.map(|(job, state)| format!("  {:<10} {}  {}", state.word, job.id, state.detail));
        out.push('\n');
        for line in std::iter::once(heading).chain(lines) {
            out.push_str(&on_one_line(line.trim_end()));
            out.push('\n');
        }
    }
    out
}

/// Returns the jobs with their states.
#[must_use]
pub fn document(survey: &Survey) -> Value {
    let document = |(job, state): &(Job, State)| {
        json!({
            "run": job.id,
            "drive": job.drive.identity,
            "host": job.drive.host,
            "state": state.word,
            "detail": state.detail,
        })
    };
    survey.jobs.iter().map(document).collect()
}
