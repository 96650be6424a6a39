//! `plateau index`: brings the index of the library, or its part of a shared store, up to date.

use record::Library;
use stdx::units::count_of;
use store::{Access, Address, InProgress, Index, Place, Updated};

use crate::cli::{Cli, IndexOptions};
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue;
use crate::output::places;
use crate::output::printer;

pub fn run(cli: &Cli, options: &IndexOptions) -> Done {
    let store = store::chosen(options.store.store.as_ref())?;
    if let Some(library) = &options.forget {
        return forget(cli, library, store.as_ref());
    }
    let library = places::library(cli.library.as_deref())?;
    let (updated, place) = update(options, &library, store.as_ref())?;
    for (folder, problem) in &updated.unreadable {
        printer::print_line(&format!("plateau: {folder} is not indexed: {problem}"));
    }
    match cli.json {
        true => printer::print_json(&updated.document(place.as_ref())),
        false => printer::print(&updated.text(place.as_ref())),
    }
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
    Ok((update(&mut index)?, Some(index.place())))
}

fn forget(cli: &Cli, library: &str, store: Option<&Address>) -> Done {
    let Some(store) = store else {
        let why =
            "--forget removes a library from a shared store; name the store with --store postgres://...";
        return Err(Failure::text(Exit::Usage, why.to_owned()));
    };
    let (updated, place) = Index::forget(store, library)?;
    match cli.json {
        true => printer::print_json(&updated.document(Some(&place))),
        false => {
            let runs = count_of(updated.removed, "run");
            printer::print(&format!("{runs} of library {library} removed from the store {}", place.store))
        }
    }
}
