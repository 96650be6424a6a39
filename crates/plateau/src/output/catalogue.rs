//! The runs in the library, read from the library's index if the index is up to date, and otherwise from the
//! runs' files.

use pts::Standing;
use record::{Candidate, Library, LibraryError, Run};
use stdx::text::with_causes;
use store::{Access, Address, InProgress, Index, ListedRun, PackedRun, Seen, StoreError, Updated};

use crate::failure::Done;
use crate::output::version;

/// A run in the library.
pub struct Known {
    pub run: PackedRun,
    pub found: Found,
}

/// Where a run's state comes from.
pub enum Found {
    /// From the index.
    Indexed(Standing, Candidate),
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
    let mut candidates = library.candidates().map_err(listed)?;
    let shared = store.and_then(|store| {
        let seen = shared(store, library, Access::Read).and_then(|mut index| index.survey_of(&candidates));
        let seen = seen.inspect_err(|error| log::info!("the store is not used: {}", with_causes(error)));
        // The library's own index may have what the store lacks.
        seen.ok().filter(|seen| is_current(seen))
    });
    let seen = shared.map_or_else(|| indexed(library, &mut candidates), Ok).unwrap_or_else(|error| {
        log::info!("the index is not used: {}", with_causes(&error));
        candidates.iter().map(|_| None).collect()
    });
    let (mut runs, mut others) = (Vec::with_capacity(seen.len()), Vec::new());
    for (candidate, seen) in candidates.into_iter().zip(seen) {
        match seen {
            Some(Seen::Current(run, state))
                if state != Standing::Incomplete || !is_in_progress(library, &candidate) =>
            {
                runs.push(Known { run, found: Found::Indexed(state, candidate) });
            }
            _ => others.push(candidate.path_in(library.root())),
        }
    }
    let (unread, unreadable) = library.list_of(others.into_iter());
    runs.extend(
        unread
            .into_iter()
            .map(|run| Known { run: ListedRun::of(&run.file).into(), found: Found::Unread(Box::new(run)) }),
    );
    runs.sort_by(|a, b| b.run.created().cmp(&a.run.created()).then_with(|| a.run.id().cmp(b.run.id())));
    Ok((runs, unreadable))
}

fn is_current(seen: &[Option<Seen>]) -> bool {
    !seen.contains(&Some(Seen::Stale))
}

/// Returns whether a process may be working on an incomplete run, which only the journal's lock shows.
fn is_in_progress(library: &Library, candidate: &Candidate) -> bool {
    let dir = candidate.path_in(library.root());
    let name = dir.file_name().unwrap_or_default();
    library.open(name).and_then(|run| run.is_in_progress()).unwrap_or(true)
}

fn indexed(library: &Library, candidates: &mut Vec<Candidate>) -> Result<Vec<Option<Seen>>, StoreError> {
    let judged_by = judged_by();
    let up_to_date = |index: &mut Index| {
        let seen = index.survey_of(candidates)?;
        if is_current(&seen) {
            return Ok(seen);
        }
        index.update(InProgress::LeftOut)?;
        // An update may take long enough for runs to be added, archived or removed.
        if let Ok(now) = library.candidates() {
            *candidates = now;
        }
        index.survey_of(candidates)
    };
    let seen = Index::with(library.root(), &judged_by, up_to_date).map(|(_, seen)| seen);
    seen.or_else(|error| {
        // Up-to-date rows can still be used.
        log::info!("the index is not updated: {}", with_causes(&error));
        Index::open(library.root(), &judged_by, Access::Read)?.survey_of(candidates)
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
pub fn judged_by() -> String {
    match version::commit() {
        Some(commit) if !commit.ends_with("-dirty") => format!("{} {commit}", version::NUMBER),
        // Sources that differ from the commit may change from one build to the next.
        _ => {
            let built = std::fs::metadata("/proc/self/exe").and_then(|program| program.modified());
            format!("{} built {built:?}", version::NUMBER)
        }
    }
}
