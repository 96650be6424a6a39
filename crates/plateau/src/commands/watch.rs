//! `plateau watch`: shows runs in progress on the terminal.

use std::io::IsTerminal as _;

use record::Library;
use watch::{Paint, Source, Which};

use crate::cli::{Cli, Watch};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::signals;

/// Width of text that is not printed to a terminal.
const COLUMNS: usize = 80;

pub fn run(cli: &Cli, options: &Watch) -> Done {
    if cli.json {
        let text = "watch prints no JSON; use `plateau status --json`, or `--progress json` of the run";
        return Err(Failure::text(Exit::Usage, text));
    }
    let library = places::library(cli.library.as_deref())?;
    let mut source = Source::of(&library, which(&library, options)?);
    let manner = console::printer::manner();
    let is_interactive = manner.out_columns.is_some() && std::io::stdin().is_terminal();
    if options.once || !is_interactive || !manner.err.rewrites {
        let items = source.look();
        if items.is_empty() {
            return printer::print("no run is in progress");
        }
        return printer::print(&watch::plain(&items, manner.out_columns.unwrap_or(COLUMNS)));
    }
    let ascii: Option<fn(&str) -> String> = if manner.out_unicode { None } else { Some(console::in_ascii) };
    let stop = signals::watch()?;
    signals::end_with_terminal()?;
    watch::follow(&mut source, Paint { colour: manner.err.colour, ascii }, &stop)
        .map_err(|error| Failure::new(Exit::Internal, error))
}

/// Returns the run to show: by default, the newest run in progress.
fn which(library: &Library, options: &Watch) -> Done<Which> {
    if options.all {
        return Ok(Which::InProgress);
    }
    if let Some(name) = &options.run {
        return Ok(Which::One(Box::new(library.find(name)?)));
    }
    let (mut runs, _) = library.list()?;
    runs.retain(|run| run.appears_in_progress().unwrap_or(false));
    let newest = runs.into_iter().max_by_key(|run| run.file.created);
    newest.map(|run| Which::One(Box::new(run))).ok_or_else(|| {
        let text = "no run is in progress; `plateau watch latest` shows the latest run, and `plateau watch --all` waits for one";
        Failure::text(Exit::Run, text)
    })
}
