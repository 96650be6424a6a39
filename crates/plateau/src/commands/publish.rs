//! `plateau publish DIR [FILTER]`.

use std::collections::BTreeSet;
use std::path::Path;

use lab::{FolderError, Publication, PublishError};
use serde_json::{Value, json};
use stdx::units::count_of;

use crate::cli::{Cli, Publish};
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue;
use crate::output::file;
use crate::output::listing;
use crate::output::places;
use crate::output::printer;

pub fn run(cli: &Cli, options: &Publish) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let (runs, unreadable) = catalogue::runs(&library)?;
    super::runs::check(&options.filter.only, &runs)?;
    let count = runs.len();
    let states = &options.filter.only.state;
    let meant = runs.into_iter().filter(|run| listing::is_meant(&run.run, &options.filter));
    let meant = meant
        .map(|run| listing::listed(&library, run))
        .filter(|run| states.is_empty() || states.contains(&run.state));
    let ids: BTreeSet<String> = meant.map(|run| run.run.id().to_owned()).collect();
    if ids.is_empty() {
        let root = library.root().display();
        let text = format!("none of the {count} runs in {root} matches; `plateau runs` lists them");
        return Err(Failure::text(Exit::Run, text));
    }
    let dir = std::path::absolute(&options.dir)?;
    places::check_outside(&dir, &library)?;
    let previous = lab::site_in(&dir).map_err(unusable)?.unwrap_or_default();
    let mut write_one = |path: &str, bytes: Vec<u8>| write(&dir, path, bytes);
    let publication =
        lab::publish(library, &ids, &previous, &mut write_one).map_err(|error| match error {
            PublishError::Library(why) => Failure::text(Exit::Run, why),
            PublishError::Write(failure) => failure,
        })?;
    lab::remove_stale(&dir, &publication.planned, &publication.manifest)?;
    write(&dir, lab::MANIFEST, publication.manifest.text())?;
    let failures = unreadable.into_iter().map(Failure::from);
    let failed = publication
        .left_out
        .iter()
        .find(|left| left.is_failure)
        .map(|left| Failure::text(Exit::Run, format!("{} was not published: {}", left.what, left.why)));
    let failure = failures.chain(failed).next();
    if cli.json {
        let document = document(&dir, &publication);
        return match failure {
            Some(failure) => Err(failure.with_document(document)),
            None => printer::print_json(&document),
        };
    }
    print(&dir, &publication)?;
    failure.map_or(Ok(()), Err)
}

fn document(dir: &Path, publication: &Publication) -> Value {
    let Publication { manifest, unchanged, comparisons, left_out, .. } = publication;
    let left_out: Vec<_> =
        left_out.iter().map(|left| json!({ "what": left.what, "why": left.why })).collect();
    json!({
        "folder": places::text_of(dir),
        "runs": manifest.runs.len(),
        "unchanged": unchanged,
        "comparisons": comparisons,
        "files": manifest.all().count(),
        "left_out": left_out,
    })
}

fn print(dir: &Path, publication: &Publication) -> Done {
    let Publication { manifest, unchanged, comparisons, left_out, .. } = publication;
    for left in left_out.iter().filter(|left| !left.is_failure) {
        printer::notice(&format!("{} was left out: {}", left.what, left.why));
    }
    let unchanged = if *unchanged > 0 { format!(" ({unchanged} unchanged)") } else { String::new() };
    let (runs, comparisons) = (count_of(manifest.runs.len(), "run"), count_of(*comparisons, "comparison"));
    printer::print(&format!("{runs}{unchanged} and {comparisons}: {}", dir.join("index.html").display()))
}

/// Writes one of the site's files.
fn write(dir: &Path, path: &str, bytes: Vec<u8>) -> Done {
    let (folder, name) = lab::folder_of(dir, path)?;
    file::folder(&folder, &[(name.to_owned(), bytes)])
}

fn unusable(error: FolderError) -> Failure {
    match error {
        FolderError::Write(error) => error.into(),
        FolderError::System { .. } => Failure::new(Exit::Run, error),
        _ => Failure::new(Exit::Usage, error),
    }
}
