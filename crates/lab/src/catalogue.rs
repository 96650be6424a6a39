//! All runs of the library, one row each. A row is derived from the journal once and reused while the journal's
//! length and modification time are unchanged, so listing thousands of runs costs one `stat` per run, on all processors.
//! A server saves the rows for the next one ([`SavedRows`]).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use follow::Stamp;
use pts::{Outcome, Standing};
use record::{
    Annotation, Annotations, Candidate, Change, Detail, LIBRARY_JOURNAL, Library, LibraryError,
    LibraryJournalError, Run, TargetFacts,
};
use stdx::parallel::mapped;
use stdx::text::with_causes;

mod facts;
mod row;
mod saved;
mod usage;
pub use facts::{Facts, Shared};
use row::Known;
pub use row::{Figure, Row, State};
pub use saved::SavedRows;
pub use usage::Usage;
use usage::{Targets, may_be_a_run};

/// The contents of a library's folder.
#[derive(Default)]
struct Scan {
    rows: Rows,
    /// Folders that may be runs, and why they cannot be opened.
    unopened: Vec<(PathBuf, LibraryError)>,
    /// Length of the journals that were read, without those of runs in progress, which are read again and again.
    read_bytes: u64,
}

/// Something in a library that may be a run.
enum Examined {
    /// It has not changed.
    Current(Arc<Known>),
    /// Its journal was read.
    Read(Known),
    Unopened(PathBuf, LibraryError),
}

/// The runs of a library.
pub struct Listing {
    /// Newest first.
    pub rows: Vec<Arc<Row>>,
    /// Why folders that may be runs are missing from the rows.
    pub warnings: Vec<String>,
}

/// Number of runs that one thread examines at a time; fewer are not worth another thread.
const PART: usize = 256;

/// All runs, by name.
type Rows = Vec<Arc<Known>>;

/// The last list.
#[derive(Default)]
struct Last {
    /// Whether there was one. If not, `rows` are those that an earlier server has saved.
    is_begun: bool,
    rows: Rows,
    /// The annotations with which the runs were listed.
    added: Option<Arc<Annotations>>,
    /// The rows with these annotations, newest first.
    listed: Vec<Arc<Row>>,
    /// Length of the journals that have been read since the rows were saved.
    unsaved_bytes: u64,
}

/// The rows of a library.
pub struct Catalogue {
    library: Library,
    /// Held while runs are listed.
    last: Mutex<Last>,
    /// Where rows are saved; None if they are not.
    saved: Option<SavedRows>,
    /// What many rows have in common.
    shared: Shared,
    /// The targets of runs, for [`usage`](Self::usage).
    targets: Targets,
    /// The names, tags and notes that users have added to runs, with the stamp of the library's journal when it was
    /// read.
    added: Mutex<(Option<Stamp>, Arc<Annotations>)>,
}

impl Catalogue {
    pub fn of(library: Library) -> Self {
        Self {
            library,
            last: Mutex::default(),
            saved: None,
            shared: Shared::default(),
            targets: Targets::default(),
            added: Mutex::default(),
        }
    }

    /// Returns a catalogue that begins with the rows that an earlier one has saved, and saves them for the next one.
    pub fn saving(library: Library, saved: SavedRows) -> Self {
        Self { saved: Some(saved), ..Self::of(library) }
    }

    /// Returns all runs, newest first.
    pub fn rows(&self) -> Result<Vec<Arc<Row>>, String> {
        self.listing().map(|listing| listing.rows)
    }

    /// Returns all runs, and the folders that cannot be read.
    pub fn listing(&self) -> Result<Listing, String> {
        // The first list may read every journal, which takes seconds in a large library. Requests that arrive in the
        // meantime wait for its rows instead of reading the same journals.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let (false, Some(saved)) = (last.is_begun, &self.saved) {
            last.rows = saved.read(self.library.root(), &self.shared);
        }
        last.is_begun = true;
        let Scan { rows, unopened, read_bytes } = self.scan(&last.rows)?;
        let added = self.added();
        let is_known = last.added.as_ref().is_some_and(|before| Arc::ptr_eq(before, &added));
        if !is_known || !are_same(&rows, &last.rows) {
            last.listed = newest_first(&rows, &added);
        }
        last.rows = rows;
        last.added = Some(added);
        last.unsaved_bytes += read_bytes;
        if let Some(saved) = self.saved.as_ref().filter(|saved| saved.are_worth_it(last.unsaved_bytes)) {
            // If they cannot be saved, the next server reads more journals.
            let _ = saved.write(self.library.root(), &last.rows);
            last.unsaved_bytes = 0;
        }
        let warnings = unopened.iter().map(|(_, error)| with_causes(error)).collect();
        Ok(Listing { rows: last.listed.clone(), warnings })
    }

    /// Returns how the runs in the library use a target.
    pub fn usage(&self, is_its: impl Fn(&TargetFacts) -> bool) -> Usage {
        self.targets.usage(&self.library, &self.shared, is_its)
    }

    fn scan(&self, known: &Rows) -> Result<Scan, String> {
        let root = self.library.root();
        let failed = |error: std::io::Error| format!("cannot list {}: {error}", root.display());
        let candidates = self.library.candidates().map_err(failed)?;
        let parts: Vec<&[Candidate]> = candidates.chunks(PART).collect();
        let examined = mapped(&parts, |part| self.examined(part, known));
        let mut scan = Scan { rows: Vec::with_capacity(candidates.len()), ..Scan::default() };
        for found in examined.into_iter().flatten() {
            match found {
                Examined::Current(known) => scan.rows.push(known),
                Examined::Read(known) => {
                    if known.row.state != State::Known(Standing::Running) {
                        scan.read_bytes += known.journal.map_or(0, Stamp::len_bytes);
                    }
                    scan.rows.push(Arc::new(known));
                }
                Examined::Unopened(dir, error) => scan.unopened.push((dir, error)),
            }
        }
        Ok(scan)
    }

    /// Examines a part of the candidates. Both they and the known runs are sorted by name.
    fn examined(&self, part: &[Candidate], known: &Rows) -> Vec<Examined> {
        let begin = part.first().map_or(0, |first| known.partition_point(|known| known.place < *first));
        let mut known = known[begin..].iter().peekable();
        let examined = part.iter().filter_map(|place| {
            while known.next_if(|known| known.place < *place).is_some() {}
            self.examined_one(place, known.next_if(|known| known.place == *place))
        });
        examined.collect()
    }

    /// Returns None if the candidate is not a run.
    fn examined_one(&self, place: &Candidate, before: Option<&Arc<Known>>) -> Option<Examined> {
        if place.name.as_encoded_bytes().starts_with(b".") {
            return None;
        }
        let root = self.library.root();
        let journal_path = place.journal_in(root);
        let journal = Stamp::of(&journal_path);
        let is_unchanged =
            |known: &&Arc<Known>| known.journal == journal && is_current(&known.row, place, root);
        if let Some(known) = before.filter(is_unchanged) {
            return Some(Examined::Current(Arc::clone(known)));
        }
        let run_file = Stamp::of(&place.run_file_in(root));
        let dir = place.path_in(root);
        match row_of(&dir, &self.shared) {
            Ok(row) => {
                let (place, row) = (place.clone(), Arc::new(row));
                Some(Examined::Read(Known { place, run_file, journal, row }))
            }
            Err(error) if may_be_a_run(&place.name, &journal_path) => Some(Examined::Unopened(dir, error)),
            Err(_) => None,
        }
    }

    /// Opens a run by its id.
    pub fn run(&self, id: &str) -> Option<Run> {
        // An id is the name of a directory in the library; other text could be a path outside the library.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || id.starts_with('.') || !id.chars().all(is_plain) {
            return None;
        }
        let mut run = self.library.open(id).ok().filter(|run| run.file.id == id)?;
        run.file.labels = self.added().labels(id, &run.file.labels);
        Some(run)
    }

    /// Returns the names, tags and notes that users have added to runs; empty if the library's journal cannot
    /// be read.
    pub fn added(&self) -> Arc<Annotations> {
        let stamp = Stamp::of(&self.library.root().join(LIBRARY_JOURNAL));
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        if added.0 != stamp {
            *added = (stamp, Arc::new(self.library.annotations().unwrap_or_default()));
        }
        Arc::clone(&added.1)
    }

    /// Returns every change that users have made to the annotations, in order.
    pub fn changes(&self) -> Result<Vec<Annotation>, LibraryJournalError> {
        self.library.changes()
    }

    /// Records a change to the annotations of a run.
    pub fn change(&self, user: &str, change: Change) -> Result<(), LibraryJournalError> {
        self.library.annotate(user, |_| Ok::<_, LibraryJournalError>(vec![change])).map(|_| ())
    }

    /// Returns the folder of the library.
    pub fn root(&self) -> &Path {
        self.library.root()
    }
}

/// Returns whether no run was added, removed or read again.
fn are_same(rows: &Rows, before: &Rows) -> bool {
    rows.len() == before.len() && rows.iter().zip(before).all(|(now, before)| Arc::ptr_eq(now, before))
}

/// Returns the rows with the labels that users have added, newest first.
fn newest_first(rows: &Rows, added: &Annotations) -> Vec<Arc<Row>> {
    let labelled = |row: &Arc<Row>| match added.digest(&row.file.id) {
        Some(_) => Arc::new(with_labels(row, added)),
        None => Arc::clone(row),
    };
    let mut listed: Vec<Arc<Row>> = rows.iter().map(|known| labelled(&known.row)).collect();
    listed.sort_by(|a, b| b.file.created.cmp(&a.file.created).then_with(|| a.file.id.cmp(&b.file.id)));
    listed
}

fn with_labels(row: &Row, added: &Annotations) -> Row {
    let id = &row.file.id;
    let mut file = Facts::clone(&row.file);
    file.labels = added.labels(id, &row.file.labels);
    Row { file: Arc::new(file), archived: added.archived(id).is_some(), ..row.clone() }
}

/// Returns whether a row is still valid: even if the journal is unchanged, the process that executes the run may have
/// started or ended. The file `run.json` is not read again, because thousands of runs may be incomplete.
fn is_current(row: &Row, place: &Candidate, root: &Path) -> bool {
    let is_running = || transfer::appears_in_progress_at(&place.path_in(root));
    match row.state {
        State::Known(Standing::Running) => is_running(),
        State::Known(Standing::Incomplete) => !is_running(),
        State::Known(_) | State::Unreadable(_) => true,
    }
}

/// Derives the row of a run from its journal.
fn row_of(dir: &Path, shared: &Shared) -> Result<Row, LibraryError> {
    let run = Run::open(dir)?;
    let in_progress = transfer::appears_in_progress(&run);
    let file = Arc::new(shared.facts(&run.file));
    let judged = run.load_detail(Detail::Conclusions).map_err(|error| error.to_string()).and_then(|loaded| {
        let replayed = pts::replay(&run.file, &loaded.entries)?;
        Ok((loaded, replayed))
    });
    Ok(match judged {
        Ok((loaded, replayed)) => Row {
            file,
            state: State::Known(Standing::of(&loaded.entries, &replayed.outcomes, in_progress)),
            records: loaded.entries.len(),
            last_record: loaded.entries.last().map(|entry| entry.wall),
            figures: replayed.outcomes.iter().flat_map(|outcome| figures_of(outcome, shared)).collect(),
            deviations: replayed.modified.len(),
            archived: false,
        },
        Err(why) => Row {
            file,
            state: State::Unreadable(why),
            records: 0,
            last_record: None,
            figures: Vec::new(),
            deviations: 0,
            archived: false,
        },
    })
}

fn figures_of(outcome: &Outcome, shared: &Shared) -> impl Iterator<Item = Figure> {
    outcome.key_figures.iter().filter_map(move |figure| {
        Some(Figure {
            test: shared.text(&outcome.test),
            name: shared.text(&figure.name),
            value: figure.value?,
            unit: figure.unit,
            decimals: figure.decimals,
            host_limited: figure.host_limited,
        })
    })
}

#[cfg(test)]
mod tests;
