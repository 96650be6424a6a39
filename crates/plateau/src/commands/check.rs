//! `plateau check TARGET`.

use device::{Drive, OpenOptions};
use prepare::models;
use record::{Event, HostCheck, HostVerdict};
use serde_json::json;

use crate::cli::{Check, Cli};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::signals;
use host::checks;
use host::restore;
use host::tuning::{self, Tuner};

pub fn run(cli: &Cli, options: &Check) -> Done {
    let drive = device::open(&models::existing_target(&options.target)?, &OpenOptions::default())?;
    if drive.facts().simulated.is_some() {
        let text = format!("{}: host settings do not affect a simulated drive", options.target);
        return Err(Failure::text(Exit::Usage, text));
    }
    let mut looked = drive.host_look();
    let mut changed = Vec::new();
    if options.tune {
        refuse_use(&drive)?;
        let state = places::state()?;
        restore::warn_of_untrusted(&places::library(cli.library.as_deref())?, &state);
        tuning::restore_left_over(drive.facts(), &*state)?;
        // From here on, signals must not terminate the process before the settings are restored.
        signals::watch()?;
        let tuner = Tuner::begin(&*state)?;
        let tunings = drive.host_look().tunings;
        let tuned = tuner.set(drive.facts(), &*state, tunings)?;
        looked = drive.host_look();
        changed = tuned.events().filter_map(tuned_line).collect();
        tuned.restore();
    }
    print(cli, &drive, &looked.checks, &changed)
}

/// Refuses to change the settings of a drive that is in use, because this could slow it down.
fn refuse_use(drive: &Drive) -> Done {
    let refusals: Vec<String> = drive.refusals().iter().map(ToString::to_string).collect();
    if refusals.is_empty() {
        return Ok(());
    }
    let text =
        format!("{}: its settings are left unchanged: {}", drive.facts().path, refusals.join("; and "));
    Err(Failure::text(Exit::Refused, text))
}

fn tuned_line(event: Event) -> Option<String> {
    match event {
        Event::Tuned { setting, was, is, .. } => Some(format!("{setting}: {was}, {is} during tests")),
        _ => None,
    }
}

fn print(cli: &Cli, drive: &Drive, found: &[HostCheck], changed: &[String]) -> Done {
    let worst = found.iter().map(|check| check.verdict).max().unwrap_or(HostVerdict::NotHere);
    let document = json!({
        "target": drive.facts(),
        "verdict": worst,
        "checks": found,
        "tuned": changed,
    });
    let unfit = worst == HostVerdict::WouldInvalidate;
    if !cli.json {
        let tuned: String = changed.iter().map(|line| format!("tuned and restored     {line}\n")).collect();
        let summary = checks::summary(found);
        printer::print(&format!("{}: {summary}\n{}{tuned}", drive.facts().path, checks::text(found)))?;
    } else if !unfit {
        printer::print_json(&document)?;
    }
    if !unfit {
        return Ok(());
    }
    let problem = format!("{}: results would reflect the host rather than the drive", drive.facts().path);
    Err(Failure::text(Exit::Regressed, problem).with_document(document))
}
