//! `plateau publish DIR [FILTER]`.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use lab::{FolderError, Publication, PublishError};
use record::Library;
use serde_json::json;
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
    super::runs::check(&options.filter, &runs)?;
    let count = runs.len();
    let states = &options.filter.state;
    let meant = runs.into_iter().filter(|run| listing::is_meant(&run.run, &options.filter));
    let meant = meant.map(listing::listed).filter(|run| states.is_empty() || states.contains(&run.state));
    let ids: BTreeSet<String> = meant.map(|run| run.run.id).collect();
    if ids.is_empty() {
        let root = library.root().display();
        let text = format!("none of the {count} runs in {root} matches; `plateau runs` lists them");
        return Err(Failure::text(Exit::Run, text));
    }
    let dir = std::path::absolute(&options.dir)?;
    check_outside(&dir, &library)?;
    let previous = lab::site_in(&dir).map_err(unusable)?.unwrap_or_default();
    let mut write_one = |path: &str, bytes: Vec<u8>| write(&dir, path, bytes);
    let publication =
        lab::publish(library, &ids, &previous, &mut write_one).map_err(|error| match error {
            PublishError::Library(why) => Failure::text(Exit::Run, why),
            PublishError::Write(failure) => failure,
        })?;
    lab::remove_stale(&dir, &publication.planned, &publication.manifest)?;
    write(&dir, lab::MANIFEST, publication.manifest.text())?;
    report(cli, &dir, &publication)?;
    let failures = unreadable.into_iter().map(Failure::from);
    let failed = publication
        .left_out
        .iter()
        .find(|left| left.is_failure)
        .map(|left| Failure::text(Exit::Run, format!("{} was not published: {}", left.what, left.why)));
    failures.chain(failed).next().map_or(Ok(()), Err)
}

fn report(cli: &Cli, dir: &Path, publication: &Publication) -> Done {
    let Publication { manifest, unchanged, comparisons, left_out, .. } = publication;
    let runs = manifest.runs.len();
    if cli.json {
        let left_out: Vec<_> =
            left_out.iter().map(|left| json!({ "what": left.what, "why": left.why })).collect();
        return printer::print_json(&json!({
            "folder": places::text_of(dir),
            "runs": runs,
            "unchanged": unchanged,
            "comparisons": comparisons,
            "files": manifest.all().count(),
            "left_out": left_out,
        }));
    }
    for left in left_out.iter().filter(|left| !left.is_failure) {
        printer::notice(&format!("{} was left out: {}", left.what, left.why));
    }
    let unchanged = if *unchanged > 0 { format!(" ({unchanged} unchanged)") } else { String::new() };
    let (runs, comparisons) = (count_of(runs, "run"), count_of(*comparisons, "comparison"));
    printer::print(&format!("{runs}{unchanged} and {comparisons}: {}", dir.join("index.html").display()))
}

/// Refuses a folder inside the library, whose folders are runs.
fn check_outside(dir: &Path, library: &Library) -> Done {
    let identity = |found: Metadata| (found.dev(), found.ino());
    let Ok(root) = std::fs::metadata(library.root()).map(identity) else { return Ok(()) };
    let is_root = |path: &Path| std::fs::metadata(path).map(identity).is_ok_and(|found| found == root);
    // The deepest existing folder on the path, without links and `..`.
    let existing = dir.ancestors().find_map(|path| path.canonicalize().ok());
    let inside = existing.is_some_and(|existing| existing.ancestors().any(is_root));
    if !inside {
        return Ok(());
    }
    let text = format!("{} is in the library; choose a folder outside it", dir.display());
    Err(Failure::text(Exit::Usage, text))
}

/// Writes a file of the site.
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
