//! `plateau publish DIR [FILTER]`.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use lab::{Manifest, Publication, PublishError};
use record::Library;
use serde_json::json;
use stdx::files::{Folder, Links, WriteError};
use stdx::units::count_of;

use crate::cli::{Cli, Publish};
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue;
use crate::output::file;
use crate::output::listing;
use crate::output::places;
use crate::output::printer;

/// The list of a site's files, in the site's folder.
const MANIFEST: &str = "plateau-site.json";
/// Size limit of that list: enough for 100,000 runs.
const MOST_BYTES: u64 = 128 << 20;

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
    let previous = previous(&dir)?;
    if previous.is_none() {
        // Marks the folder as a site, so that an interrupted publication can be repeated.
        write(&dir, MANIFEST, text_of(&Manifest::default())?)?;
    }
    let previous = previous.unwrap_or_default();
    let mut write_one = |path: &str, bytes: Vec<u8>| write(&dir, path, bytes);
    let publication =
        lab::publish(library, &ids, &previous, &mut write_one).map_err(|error| match error {
            PublishError::Library(why) => Failure::text(Exit::Run, why),
            PublishError::Write(failure) => failure,
        })?;
    remove_stale(&dir, &previous, &publication.manifest)?;
    write(&dir, MANIFEST, text_of(&publication.manifest)?)?;
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
    let Publication { manifest, unchanged, comparisons, left_out } = publication;
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
    // The deepest folder that exists, without links and `..`.
    let existing = dir.ancestors().find_map(|path| path.canonicalize().ok());
    let inside = existing.is_some_and(|existing| existing.ancestors().any(is_root));
    if !inside {
        return Ok(());
    }
    let text = format!("{} is in the library; choose a folder outside it", dir.display());
    Err(Failure::text(Exit::Usage, text))
}

/// Returns the manifest of the site in a folder; `None` if there is no site, and nothing that one would overwrite.
fn previous(dir: &Path) -> Done<Option<Manifest>> {
    let path = dir.join(MANIFEST);
    if !is_there(&path)? {
        for name in lab::TOP_FILES.iter().chain(&lab::TOP_FOLDERS) {
            if is_there(&dir.join(name))? {
                let text = format!(
                    "{} contains {name}, but no {MANIFEST}, so it is not a site that Plateau has published; choose \
                     an empty folder",
                    dir.display()
                );
                return Err(Failure::text(Exit::Usage, text));
            }
        }
        return Ok(None);
    }
    let unusable = |why: String| {
        let text =
            format!("{}: {why}; remove it together with the site, or choose another folder", path.display());
        Failure::text(Exit::Usage, text)
    };
    let text = stdx::files::read_text(&path, Links::Refused, MOST_BYTES)
        .map_err(|error| unusable(error.to_string()))?;
    let mut manifest: Manifest = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
    if manifest.format > lab::MANIFEST_FORMAT {
        return Err(unusable("it was written by a newer version of Plateau".into()));
    }
    if let Some(path) = manifest.all().find(|path| !lab::is_path_of_site(path)) {
        return Err(unusable(format!("'{}' cannot be a file of a site", path.escape_debug())));
    }
    // Files that are missing are written again.
    let is_file =
        |path: &String| std::fs::symlink_metadata(dir.join(path)).is_ok_and(|found| found.is_file());
    manifest.runs.retain(|_, run| run.files.iter().all(is_file));
    Ok(Some(manifest))
}

fn is_there(path: &Path) -> Done<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(Failure::text(Exit::Run, format!("{}: {error}", path.display()))),
    }
}

fn text_of(manifest: &Manifest) -> Done<Vec<u8>> {
    let internal = |error: serde_json::Error| Failure::new(Exit::Internal, error);
    let mut text = serde_json::to_vec_pretty(manifest).map_err(internal)?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a file of the site. No folder under `dir` may be a symbolic link.
fn write(dir: &Path, path: &str, bytes: Vec<u8>) -> Done {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = make_folders(dir, folder)?;
    file::folder(&folder, &[(name.to_owned(), bytes)])
}

fn make_folders(dir: &Path, below: &str) -> Done<PathBuf> {
    let mut folder = dir.to_owned();
    Folder::make(&folder, false)?;
    for part in below.split('/').filter(|part| !part.is_empty()) {
        folder.push(part);
        Folder::make(&folder, false)?;
    }
    Ok(folder)
}

/// Removes the files that are no longer part of the site, and folders that are empty without them.
fn remove_stale(dir: &Path, previous: &Manifest, current: &Manifest) -> Done {
    let kept: BTreeSet<&str> = current.all().collect();
    for path in previous.all().filter(|path| !kept.contains(path)) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = make_folders(dir, folder)?;
        let open = Folder::make(&folder, false)?.into_file();
        match stdx::files::remove_in(&open, name.as_ref()) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(WriteError::System { path: dir.join(path), source }.into());
            }
            _ => {}
        }
        // Fails for folders that contain something else, which remain.
        let _ = (folder != dir).then(|| std::fs::remove_dir(&folder));
    }
    Ok(())
}
