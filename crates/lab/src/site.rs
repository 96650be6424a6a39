//! `plateau publish`: a selection of runs as a static site, which needs no server. The pages are the same as
//! the server's, without forms.

mod folder;
mod manifest;

use std::collections::BTreeSet;
use std::sync::Arc;

use compare::{Candidate, Comparison};
use pts::Standing;
use record::{Digest, Library, is_run_id};
use report::formats::{Make, Source};

use crate::assets;
use crate::catalogue::{Catalogue, Row, State};
use crate::document::document;
use crate::drives::drives;
use crate::pages::comparisons::{self, Group};
use crate::pages::edition::{
    Edition, Width, drive_file, export_file, file_formats, files, run_file, timeline_file,
};
use crate::pages::{drives as drive_pages, library, reported, run as run_page, timeline};
use crate::snapshot::Snapshots;
use manifest::MANIFEST_FORMAT;

pub use folder::{FolderError, MANIFEST, folder_of, remove_stale, site_in};
pub use manifest::{Manifest, PublishedRun};

/// A finished publication.
#[derive(Debug, Clone)]
pub struct Publication {
    /// All files of the site.
    pub manifest: Manifest,
    /// All files that this publication and the previous one may have written.
    pub planned: Manifest,
    /// Number of runs whose files were kept from the previous publication.
    pub unchanged: usize,
    /// Number of comparisons.
    pub comparisons: usize,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
}

/// A run, report or comparison that is not part of the site.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// Name of the run, report or comparison.
    pub what: String,
    /// The reason.
    pub why: String,
    /// Whether the run, report or comparison should have been part of the site.
    pub is_failure: bool,
}

/// Writes the given content to a file; its path is relative to the site's folder.
pub type WriteFile<'w, E> = &'w mut dyn FnMut(&str, Vec<u8>) -> Result<(), E>;

/// Why a site cannot be published.
#[derive(Debug)]
pub enum PublishError<E> {
    /// The library cannot be read.
    Library(String),
    /// A file cannot be written.
    Write(E),
}

/// Writes pages, reports and exports for the runs `ids` of `library`, and comparisons between their drives. `write`
/// receives each file's path, relative to the site's folder, and content. Runs that have not changed since the
/// `previous` publication are not written again.
///
/// # Errors
/// Returns an error if the library cannot be read or `write` fails.
pub fn publish<E>(
    library: Library,
    ids: &BTreeSet<String>,
    previous: &Manifest,
    write: WriteFile<'_, E>,
) -> Result<Publication, PublishError<E>> {
    let catalogue = Catalogue::of(library);
    let mut rows = catalogue.rows().map_err(PublishError::Library)?;
    rows.retain(|row| ids.contains(&row.file.id) && !row.archived);
    // If this publication is interrupted, the next one knows which files it may have left behind.
    let planned = planned(previous, &rows);
    write(MANIFEST, planned.text()).map_err(PublishError::Write)?;
    let mut site = Site {
        snapshots: Snapshots::default(),
        publication: Publication {
            manifest: Manifest { format: MANIFEST_FORMAT, ..Manifest::default() },
            planned,
            unchanged: 0,
            comparisons: 0,
            left_out: Vec::new(),
        },
        catalogue,
        write,
    };
    let mut published: Vec<Arc<Row>> = Vec::new();
    for row in rows {
        if site.run(&row, previous).map_err(PublishError::Write)? {
            published.push(row);
        }
    }
    site.overview(&published).map_err(PublishError::Write)?;
    Ok(site.publication)
}

/// Returns the files of the previous publication, and those that the publication of these runs may write.
fn planned(previous: &Manifest, rows: &[Arc<Row>]) -> Manifest {
    let mut planned = Manifest { format: MANIFEST_FORMAT, ..previous.clone() };
    for row in rows.iter().filter(|row| is_run_id(&row.file.id)) {
        let id = &row.file.id;
        let run = planned.runs.entry(id.clone()).or_default();
        run.files.extend(file_formats().map(|format| export_file(id, format)));
        run.files.insert(run_file(id));
        run.files.extend([Width::Wide, Width::Narrow].map(|width| timeline_file(id, width)));
    }
    let drives = drives(rows);
    planned.files.extend(library::published_files(rows.len()));
    planned.files.extend(drives.iter().map(|drive| drive_file(&drive.id)));
    planned.files.extend(comparisons::groups(&drives).iter().map(Group::file));
    planned
        .files
        .extend([files::DRIVES, files::COMPARISONS, files::STYLE, files::ICON].map(ToOwned::to_owned));
    planned
}

struct Site<'w, E> {
    catalogue: Catalogue,
    snapshots: Snapshots,
    publication: Publication,
    write: WriteFile<'w, E>,
}

impl<E> Site<'_, E> {
    /// Writes the files of a run; returns whether it is part of the site.
    fn run(&mut self, row: &Row, previous: &Manifest) -> Result<bool, E> {
        let id = &row.file.id;
        let in_progress = row.state == State::Known(Standing::Running);
        let opened = match &row.state {
            State::Known(Standing::Running) => {
                Err("it is in progress; publish again when it is complete".to_owned())
            }
            State::Unreadable(why) => Err(why.clone()),
            // This also refuses ids that are not valid file names.
            State::Known(_) => {
                self.catalogue.run(id).ok_or_else(|| "its folder is not named after its id".to_owned())
            }
        };
        let snapshot = match opened.and_then(|run| self.snapshots.of(run)) {
            Ok(snapshot) => snapshot,
            Err(why) => {
                self.leave_out(id, why, !in_progress);
                return Ok(false);
            }
        };
        let state_sha256 = state_of(row, &snapshot.loaded.digest.to_string());
        if let Some(known) = previous.runs.get(id).filter(|known| known.state_sha256 == state_sha256) {
            self.publication.manifest.runs.insert(id.clone(), known.clone());
            self.publication.unchanged += 1;
            return Ok(true);
        }
        let mut files = BTreeSet::new();
        let mut exports = Vec::new();
        let mut report = None;
        match document(&snapshot) {
            Ok(document) => {
                let source = Source { document: &document, entries: &snapshot.loaded.entries };
                // The page of a complete run is its report.
                let is_report = reported::is_complete(&snapshot);
                for format in file_formats().filter(|format| !(is_report && format.name == "html")) {
                    let Make::File(make) = format.make else { continue };
                    // Not every format can represent every run.
                    let Ok(bytes) = make(source) else { continue };
                    self.file(&mut files, export_file(id, format), bytes)?;
                    exports.push(format);
                }
                report = is_report.then(|| reported::published(&snapshot, &document, &exports));
            }
            Err(why) => self.leave_out(&format!("report of {id}"), why, true),
        }
        let page = match report {
            Some(report) => report,
            None => {
                if let Some(latest) = timeline::latest(&snapshot) {
                    for width in [Width::Wide, Width::Narrow] {
                        self.file(
                            &mut files,
                            timeline_file(id, width),
                            timeline::svg(&latest, width).into(),
                        )?;
                    }
                }
                run_page::published(&snapshot, &exports).into_string()
            }
        };
        self.file(&mut files, run_file(id), page.into())?;
        self.publication.manifest.runs.insert(id.clone(), PublishedRun { state_sha256, files });
        Ok(true)
    }

    /// Writes the lists, the drives' pages and the comparisons.
    fn overview(&mut self, rows: &[Arc<Row>]) -> Result<(), E> {
        let mut files = BTreeSet::new();
        let refs: Vec<&Arc<Row>> = rows.iter().collect();
        for (path, page) in library::published(&refs) {
            self.file(&mut files, path, page.into_string().into())?;
        }
        let all = drives(rows);
        self.file(&mut files, files::DRIVES.into(), drive_pages::published(&all).into_string().into())?;
        for drive in &all {
            let page = drive_pages::of_drive(drive, Edition::Site { up: "../" });
            self.file(&mut files, drive_file(&drive.id), page.into_string().into())?;
        }
        let mut groups = comparisons::groups(&all);
        let mut failed = BTreeSet::new();
        for group in &groups {
            match self.comparison(group) {
                Ok(page) => self.file(&mut files, group.file(), page.into())?,
                Err(why) => {
                    self.leave_out(&format!("comparison {}", group.settings), why, false);
                    failed.insert(group.settings.clone());
                }
            }
        }
        groups.retain(|group| !failed.contains(&group.settings));
        self.publication.comparisons = groups.len();
        let page = comparisons::page(&groups).into_string();
        self.file(&mut files, files::COMPARISONS.into(), page.into())?;
        self.file(&mut files, files::STYLE.into(), assets::STYLE.into())?;
        self.file(&mut files, files::ICON.into(), assets::ICON.into())?;
        self.publication.manifest.files = files;
        Ok(())
    }

    fn comparison(&self, group: &Group) -> Result<String, String> {
        let candidate = |row: &Arc<Row>| {
            let run = self.catalogue.run(&row.file.id).ok_or_else(|| format!("{}: gone", row.file.id))?;
            let snapshot = self.snapshots.of(run)?;
            Candidate::of(&snapshot.run.file, &snapshot.loaded)
        };
        let comparison =
            group.runs.iter().map(candidate).collect::<Result<_, _>>().and_then(Comparison::of)?;
        let site = Edition::Site { up: "../" };
        let links = group.runs.iter().map(|row| Some(site.run(&row.file.id))).collect();
        Ok(reported::compared(&comparison, links, site))
    }

    fn file(&mut self, files: &mut BTreeSet<String>, path: String, bytes: Vec<u8>) -> Result<(), E> {
        (self.write)(&path, bytes)?;
        files.insert(path);
        Ok(())
    }

    fn leave_out(&mut self, what: &str, why: String, is_failure: bool) {
        self.publication.left_out.push(LeftOut { what: what.to_owned(), why, is_failure });
    }
}

/// Must be increased whenever the files that Plateau writes for a run change.
const FILES_VERSION: u32 = 6;

/// Returns a hash of everything that the files of a run depend on.
fn state_of(row: &Row, journal_sha256: &str) -> String {
    let labels = serde_json::to_string(&row.file.labels).unwrap_or_default();
    let version = format!("{} {FILES_VERSION}", env!("CARGO_PKG_VERSION"));
    Digest::of(
        format!("{version}\n{journal_sha256}\n{}\n{}\n{labels}", row.state.word(), row.file.sha256)
            .as_bytes(),
    )
    .to_string()
}
