//! The runs in the library, read from the library's index if the index is up to date, and otherwise from the
//! runs' files.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use pts::Standing;
use record::{Library, LibraryError, Run};
use stdx::text::with_causes;
use store::{Access, Address, InProgress, Index, ListedRun, Seen, StoreError, Updated};

use crate::failure::Done;
use crate::output::version;

/// A run in the library.
pub struct Known {
    pub run: Box<ListedRun>,
    pub dir: PathBuf,
    pub found: Found,
}

/// Where a run's state comes from.
pub enum Found {
    /// From the index.
    Indexed(Standing),
    /// The run's journal has to be read.
    Unread(Box<Run>),
}

/// Returns all runs, newest first, and an error for each directory that could not be read as a run. The index is
/// brought up to date if possible; a failure to do so only costs time.
///
/// # Errors
/// Returns an error if the library itself cannot be read.
pub fn runs(library: &Library) -> Done<(Vec<Known>, Vec<LibraryError>)> {
    runs_from(None, library)
}

/// Same as [`runs`], but reads a shared store if there is one that is up to date.
///
/// # Errors
/// Same as [`runs`].
pub fn runs_from(store: Option<&Address>, library: &Library) -> Done<(Vec<Known>, Vec<LibraryError>)> {
    let listed = |source| LibraryError::Io { action: "list", path: library.root().into(), source };
    let mut entries = library.entries().map_err(listed)?;
    let shared = store.and_then(|store| {
        let seen = shared(store, library, Access::Read).and_then(|mut index| index.survey_of(&entries));
        let seen = seen.inspect_err(|error| log::info!("the store is not used: {}", with_causes(error)));
        // The library's own index may have what the store lacks.
        seen.ok().filter(|seen| seen.values().all(|seen| *seen != Seen::Stale))
    });
    let seen = shared.map_or_else(|| indexed(library, &mut entries), Ok).unwrap_or_else(|error| {
        log::info!("the index is not used: {}", with_causes(&error));
        BTreeMap::new()
    });
    let mut runs = Vec::with_capacity(seen.len());
    for (folder, seen) in seen {
        let Seen::Current(run, state) = seen else { continue };
        // Only the journal's lock shows whether a process is working on an incomplete run.
        if state == Standing::Incomplete
            && library.open(&folder).and_then(|run| run.is_in_progress()).unwrap_or(true)
        {
            continue;
        }
        // The entries that remain are read from their files.
        let dir = entries.remove(OsStr::new(&folder)).unwrap_or_else(|| library.path_of(&folder));
        runs.push(Known { run, dir, found: Found::Indexed(state) });
    }
    let (unread, unreadable) = library.list_of(entries.into_values());
    runs.extend(unread.into_iter().map(|run| Known {
        run: Box::new(ListedRun::of(&run.file)),
        dir: run.dir.clone(),
        found: Found::Unread(Box::new(run)),
    }));
    runs.sort_by(|a, b| b.run.created.cmp(&a.run.created).then_with(|| a.run.id.cmp(&b.run.id)));
    Ok((runs, unreadable))
}

fn indexed(
    library: &Library,
    entries: &mut BTreeMap<OsString, PathBuf>,
) -> Result<BTreeMap<String, Seen>, StoreError> {
    let judged_by = judged_by();
    let up_to_date = |index: &mut Index| {
        let seen = index.survey_of(entries)?;
        if seen.values().all(|seen| *seen != Seen::Stale) {
            return Ok(seen);
        }
        index.update(InProgress::LeftOut)?;
        // An update may take long enough for runs to be added, archived or removed.
        if let Ok(now) = library.entries() {
            *entries = now;
        }
        index.survey_of(entries)
    };
    let seen = Index::with(library.root(), &judged_by, up_to_date).map(|(_, seen)| seen);
    seen.or_else(|error| {
        // Up-to-date rows can still be used.
        log::info!("the index is not updated: {}", with_causes(&error));
        Index::open(library.root(), &judged_by, Access::Read)?.survey_of(entries)
    })
}

/// Returns an up-to-date index of a library; it is built in memory if the library's own index cannot be used.
///
/// # Errors
/// Returns an error if the library itself cannot be read.
pub fn current(library: &Library) -> Result<Index, StoreError> {
    current_after(library).map(|(index, _)| index)
}

/// Same as [`current`], but also returns the runs that could not be indexed.
///
/// # Errors
/// Returns an error if the library itself cannot be read.
pub fn current_after(library: &Library) -> Result<(Index, Updated), StoreError> {
    update(library, |index| index.update(InProgress::Included)).or_else(|error| {
        log::info!("the index is not updated: {}", with_causes(&error));
        // On a read-only file system, the index may have been brought up to date before.
        if let Some((index, runs)) = read_only(library) {
            return Ok((index, Updated { runs, ..Updated::default() }));
        }
        let mut index = Index::in_memory(library.root(), &judged_by())?;
        let updated = index.update(InProgress::Included)?;
        Ok((index, updated))
    })
}

/// Returns the library's index if it can be read and is up to date, and the number of runs in it.
fn read_only(library: &Library) -> Option<(Index, usize)> {
    let mut index = Index::open(library.root(), &judged_by(), Access::Read).ok()?;
    let runs = index.runs_if_current().ok()??;
    Some((index, runs))
}

/// Returns the number of runs that are not in the index, or have changed since they were indexed.
///
/// # Errors
/// Returns an error if there is no index or it cannot be used.
pub fn stale(library: &Library) -> Result<usize, StoreError> {
    let seen = Index::open(library.root(), &judged_by(), Access::Read)?.survey()?;
    Ok(seen.values().filter(|seen| **seen == Seen::Stale).count())
}

/// Changes a library's index.
///
/// # Errors
/// Returns an error if the index cannot be opened or changed.
pub fn update<T>(
    library: &Library,
    body: impl FnMut(&mut Index) -> Result<T, StoreError>,
) -> Result<(Index, T), StoreError> {
    Index::with(library.root(), &judged_by(), body)
}

/// Opens a shared store.
///
/// # Errors
/// Returns an error if the store cannot be used.
pub fn shared(store: &Address, library: &Library, access: Access) -> Result<Index, StoreError> {
    Index::shared(store, library.root(), &judged_by(), access)
}

/// Returns a string that identifies this build, because other builds may evaluate runs differently.
fn judged_by() -> String {
    match version::commit() {
        Some(commit) if !commit.ends_with("-dirty") => format!("{} {commit}", version::NUMBER),
        // Sources that differ from the commit may change from one build to the next.
        _ => {
            let built = std::fs::metadata("/proc/self/exe").and_then(|program| program.modified());
            format!("{} built {built:?}", version::NUMBER)
        }
    }
}
