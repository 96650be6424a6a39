//! `plateau index`: brings the index of the library up to date.

use record::Library;
use serde_json::json;
use stdx::units::{amount_base10, count_of};
use store::{Access, Address, InProgress, Index, Updated};

use crate::cli::{Cli, IndexOptions};
use crate::failure::Done;
use crate::output::catalogue;
use crate::output::places;
use crate::output::printer;
use crate::output::shared;

pub fn run(cli: &Cli, options: &IndexOptions) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let store = shared::chosen(&options.store)?;
    let (updated, place) = update(options, &library, store.as_ref())?;
    for (folder, problem) in &updated.unreadable {
        printer::print_line(&format!("plateau: {folder} is not indexed: {problem}"));
    }
    if cli.json {
        let mut document = json!({
            "runs": updated.runs,
            "indexed": updated.indexed,
            "removed": updated.removed,
            "journal_bytes": updated.journal_bytes,
            "unreadable": updated.unreadable.iter().map(|(folder, _)| folder).collect::<Vec<_>>(),
        });
        if let Some(Place { store, library }) = place {
            document["store"] = store.into();
            document["library"] = library.into();
        }
        return printer::print_json(&document);
    }
    printer::print(&text(&updated, place.as_ref()))
}

/// Where the rows are in a shared store.
struct Place {
    store: String,
    library: String,
}

fn update(
    options: &IndexOptions,
    library: &Library,
    store: Option<&Address>,
) -> Done<(Updated, Option<Place>)> {
    // A library is created with its first run.
    if matches!(library.root().try_exists(), Ok(false)) {
        return Ok((Updated::default(), None));
    }
    let update = |index: &mut Index| match options.rebuild {
        true => index.rebuild(),
        false => index.update(InProgress::Included),
    };
    let Some(store) = store else { return Ok((catalogue::update(library, update)?.1, None)) };
    let mut index = catalogue::shared(store, library, Access::Write)?;
    let updated = update(&mut index)?;
    let (store, library) = index.place();
    Ok((updated, Some(Place { store, library: library.to_owned() })))
}

fn text(updated: &Updated, place: Option<&Place>) -> String {
    let runs = |count: usize| count_of(count, "run");
    let read = match updated.indexed {
        0 => "no journal had to be read".to_owned(),
        read => format!("{} read ({})", runs(read), amount_base10(updated.journal_bytes)),
    };
    let removed = match updated.removed {
        0 => String::new(),
        removed => format!(", {} removed", runs(removed)),
    };
    let place = match place {
        Some(Place { store, library }) => format!("the store {store} as library {library}"),
        None => "the index".to_owned(),
    };
    format!("{} in {place}: {read}{removed}", runs(updated.runs))
}
