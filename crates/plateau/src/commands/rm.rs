//! `plateau rm RUN…`.

use std::collections::HashSet;
use std::io::{BufRead as _, IsTerminal as _};

use record::Run;
use serde_json::json;
use stdx::text::on_one_line;
use stdx::units::count_of;

use crate::cli::{Cli, Rm};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::summary;
use record::run_files::{IMPORTED, LOGO, SIGNATURE};

pub fn run(cli: &Cli, options: &Rm) -> Done {
    let library = places::library(cli.library.as_deref())?;
    // All runs are looked up before the first run is removed, so that `latest` always refers to the same run.
    let found = options.runs.iter().map(|name| library.find(name)).collect::<Result<Vec<Run>, _>>()?;
    let mut known = HashSet::new();
    let mut runs = Vec::new();
    for run in found {
        // A path such as `.` has no file name to remove.
        let dir = std::path::absolute(&run.dir)?;
        if known.insert(dir.clone()) {
            runs.push(Run::open(&dir)?);
        }
    }
    for run in &runs {
        if run.is_in_progress()? {
            return Err(record::LibraryError::InProgress { id: run.file.id.clone() }.into());
        }
    }
    if !options.yes && !is_confirmed(&runs)? {
        return Err(Failure::text(Exit::Usage, "nothing was removed"));
    }
    let mut removed = Vec::new();
    for run in runs {
        let id = run.file.id.clone();
        run.remove().map_err(|error| {
            Failure::from(error).of_run(&id).with_document(json!({ "removed": removed.clone() }))
        })?;
        if !cli.json {
            printer::print(&format!("removed {id}"))?;
        }
        removed.push(id);
    }
    if cli.json { printer::print_json(&json!({ "removed": removed })) } else { Ok(()) }
}

/// Returns the names of files in a run's directory that Plateau did not write.
fn others(run: &Run) -> Done<Vec<String>> {
    const OWN: [&str; 8] =
        [transfer::COPIED, "run.json", "journal", live::LIVE, "report.html", SIGNATURE, LOGO, IMPORTED];
    let mut names = Vec::new();
    for name in run.file_names()? {
        if !OWN.iter().any(|own| name == *own) {
            names.push(on_one_line(&name.to_string_lossy()).into_owned());
        }
    }
    Ok(names)
}

fn is_confirmed(runs: &[Run]) -> Done<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let text =
            "cannot ask for confirmation, because standard input is not a terminal; confirm with --yes";
        return Err(Failure::text(Exit::Usage, text));
    }
    for run in runs {
        printer::print_line(&format!("{}  {}", run.file.id, summary::target(&run.file)));
        let others = others(run)?;
        if !others.is_empty() {
            printer::print_line(&format!("  with files that Plateau did not write: {}", others.join(", ")));
        }
    }
    let count = count_of(runs.len(), "run");
    printer::ask(&format!("Remove {count} permanently, with all data and reports? [y/N] "));
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
