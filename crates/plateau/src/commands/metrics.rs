//! `plateau metrics`: prints the metrics of `plateau serve` once.

use crate::cli::{Cli, Metrics};
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue::judged_by;
use crate::output::file;
use crate::output::places;
use crate::output::printer;

pub fn run(cli: &Cli, options: &Metrics) -> Done {
    if cli.json {
        let text = "metrics are printed in the Prometheus format, not as JSON; use `plateau status --json`";
        return Err(Failure::text(Exit::Usage, text));
    }
    let textfile = options.textfile.as_deref();
    file::check(textfile, false)?;
    let library = places::library(cli.library.as_deref())?;
    let text = lab::metrics_of(library, &super::serve::folder()?, judged_by());
    let text = text.map_err(|why| Failure::text(Exit::Run, why))?;
    match textfile {
        Some(path) => file::file(path, text.as_bytes()),
        None => printer::print(&text),
    }
}
