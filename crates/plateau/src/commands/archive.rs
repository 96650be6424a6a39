//! `plateau archive RUN…`, `plateau unarchive RUN…`.

use std::collections::HashSet;

use record::{Archived, LibraryError, Run};
use serde_json::{Value, json};
use stdx::units::amount_base10;

use crate::cli::Cli;
use crate::commands::verify;
use crate::failure::Done;
use crate::output::places;
use crate::output::printer;

/// The `archive` or `unarchive` command.
pub struct Action {
    /// Key of the list of runs in the JSON document, and the first word of the text output.
    done: &'static str,
    /// Rejects an unsuitable run before anything is changed.
    check: fn(&Run) -> Done,
    perform: fn(Run) -> Done<Archived>,
}

pub const ARCHIVE: Action = Action {
    done: "archived",
    check: |run| match (run.is_archived(), run.is_in_progress()?) {
        (true, _) => Err(LibraryError::AlreadyArchived { id: run.file.id.clone() }.into()),
        (_, true) => Err(LibraryError::InProgress { id: run.file.id.clone() }.into()),
        _ => Ok(()),
    },
    perform: |run| run.archive(|run| verify::check(run).map(drop)),
};

pub const UNARCHIVE: Action = Action {
    done: "unarchived",
    check: |_| Ok(()),
    perform: |run| run.unarchive(|run| verify::check(run).map(drop)),
};

pub fn run(cli: &Cli, names: &[String], action: &Action) -> Done {
    let library = places::library(cli.library.as_deref())?;
    // All runs are looked up before the first run changes, so that `latest` always refers to the same run.
    let mut known = HashSet::new();
    let mut runs = Vec::new();
    for name in names {
        let found = library.find(name)?;
        // A path such as `.` has no file name to remove.
        let dir = std::path::absolute(&found.dir)?;
        if known.insert(dir.clone()) {
            let run = Run::open(&dir)?;
            (action.check)(&run).map_err(|failure| failure.of_run(&run.file.id))?;
            runs.push(run);
        }
    }
    let mut done: Vec<Value> = Vec::new();
    for run in runs {
        let id = run.file.id.clone();
        let archived = (action.perform)(run)
            .map_err(|failure| failure.of_run(&id).with_document(json!({ action.done: done.clone() })))?;
        if !cli.json {
            printer::print(&text(action, &id, &archived))?;
        }
        done.push(document(&id, &archived));
    }
    if cli.json { printer::print_json(&json!({ action.done: done })) } else { Ok(()) }
}

fn text(action: &Action, id: &str, archived: &Archived) -> String {
    let (files, archive) = (amount_base10(archived.files_bytes), amount_base10(archived.archive_bytes));
    match action.done {
        "archived" => {
            let saved = amount_base10(archived.files_bytes.saturating_sub(archived.archive_bytes));
            format!("archived {id}: {archive} instead of {files}, {saved} saved")
        }
        done => format!("{done} {id}: {files} from {archive}"),
    }
}

fn document(id: &str, archived: &Archived) -> Value {
    json!({
        "run": id,
        "path": places::text_of(&archived.path),
        "files_bytes": archived.files_bytes,
        "archive_bytes": archived.archive_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incompressible_run_saves_nothing() {
        let archived = Archived { path: "/l/a.tar.zst".into(), files_bytes: 1000, archive_bytes: 1100 };
        let text = text(&ARCHIVE, "a", &archived);
        assert!(text.ends_with("0 B saved"), "{text}");
    }
}
