//! `plateau index`: brings the library's index up to date.

use serde_json::json;
use stdx::units::{amount_base10, count_of};
use store::{InProgress, Index, Updated};

use crate::cli::{Cli, IndexOptions};
use crate::failure::Done;
use crate::output::catalogue;
use crate::output::places;
use crate::output::printer;

pub fn run(cli: &Cli, options: &IndexOptions) -> Done {
    let library = places::library(cli.library.as_deref())?;
    // A library is created with its first run.
    let updated = match library.root().try_exists() {
        Ok(false) => Updated::default(),
        _ => {
            let update = |index: &mut Index| match options.rebuild {
                true => index.rebuild(),
                false => index.update(InProgress::Included),
            };
            catalogue::update(&library, update)?.1
        }
    };
    for (folder, problem) in &updated.unreadable {
        printer::print_line(&format!("plateau: {folder} is not indexed: {problem}"));
    }
    if cli.json {
        return printer::print_json(&json!({
            "runs": updated.runs,
            "indexed": updated.indexed,
            "removed": updated.removed,
            "journal_bytes": updated.journal_bytes,
            "unreadable": updated.unreadable.iter().map(|(folder, _)| folder).collect::<Vec<_>>(),
        }));
    }
    printer::print(&text(&updated))
}

fn text(updated: &Updated) -> String {
    let runs = |count: usize| count_of(count, "run");
    let read = match updated.indexed {
        0 => "no journal had to be read".to_owned(),
        read => format!("{} read ({})", runs(read), amount_base10(updated.journal_bytes)),
    };
    let removed = match updated.removed {
        0 => String::new(),
        removed => format!(", {} removed", runs(removed)),
    };
    format!("{} in the index: {read}{removed}", runs(updated.runs))
}
