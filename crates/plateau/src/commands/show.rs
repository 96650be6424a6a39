//! `plateau show RUN`.

use crate::cli::{Cli, Show};
use crate::failure::Done;
use crate::output::places;
use crate::output::printer;
use crate::output::summary::Summary;

pub fn run(cli: &Cli, options: &Show) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let summary = Summary::live(library.find(&options.run)?)?;
    if cli.json {
        return printer::print_json(&summary.json());
    }
    printer::print(&summary.text())
}
