//! `plateau report RUN`.

use serde_json::json;

use crate::cli::{Cli, Report};
use crate::failure::Done;
use crate::{places, printer, report_file};

pub fn run(cli: &Cli, options: &Report) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let run = library.find(&options.run)?;
    let path = report_file::write(&run, options.html.as_deref())?;
    if cli.json {
        return printer::print_json(&json!({ "run": run.file.id, "report": path }));
    }
    printer::print(&path.display().to_string())
}
