//! `plateau fleet status`.

use cluster::{Surveyor, Whose, report};

use crate::cli::{Cli, FleetStatus};
use crate::failure::Done;
use crate::output::places;
use crate::output::printer;

pub fn run(cli: &Cli, options: &FleetStatus) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let (inventory, logs) = (options.inventory.clone(), options.logs.clone());
    let survey = Surveyor::of(options.campaign.clone(), inventory, logs, library, Whose::Mine).survey()?;
    if cli.json {
        survey.note.iter().for_each(|note| printer::notice(note));
        return printer::print_json(&report::document(&survey));
    }
    printer::print(&report::text(&survey))
}
