//! All runs of the library, one row each. A row is derived from the journal once and reused while the journal's
//! length and modification time are unchanged, so listing thousands of runs costs one `stat` per run, on all processors.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use follow::Stamp;
use jiff::Timestamp;
use pts::{Outcome, Standing, Unit};
use record::{
    Annotation, Annotations, Candidate, Change, Detail, LIBRARY_JOURNAL, Library, LibraryError,
    LibraryJournalError, Run, TargetFacts,
};
use stdx::parallel::mapped;
use stdx::text::with_causes;

mod facts;
mod usage;
pub use facts::{Facts, Shared};
pub use usage::Usage;
use usage::{Targets, may_be_a_run};

/// State of a run, or why it is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Known(Standing),
    Unreadable(String),
}

impl State {
    /// Returns the state as a word, also used by filters.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Known(Standing::Running) => "running",
            Self::Known(Standing::Steady) => "steady",
            Self::Known(Standing::Unsteady) => "unsteady",
            Self::Known(Standing::Complete) => "complete",
            Self::Known(Standing::Incomplete) => "incomplete",
            Self::Unreadable(_) => Self::UNREADABLE,
        }
    }

    pub const UNREADABLE: &'static str = "unreadable";
    pub const WORDS: [&'static str; 6] =
        ["running", "steady", "unsteady", "complete", "incomplete", Self::UNREADABLE];
}

/// A key figure of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub test: Arc<str>,
    pub name: Arc<str>,
    pub value: f64,
    pub unit: Unit,
    pub decimals: usize,
    pub host_limited: bool,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub file: Arc<Facts>,
    pub state: State,
    /// Number of records in the journal.
    pub records: usize,
    pub last_record: Option<Timestamp>,
    pub figures: Vec<Figure>,
    /// Number of deviations from the profile.
    pub deviations: usize,
    /// Whether lists omit the run unless archived runs are requested.
    pub archived: bool,
}

/// The contents of a library's folder.
#[derive(Default)]
struct Scan {
    rows: Rows,
    /// Folders that may be runs, and why they cannot be opened.
    unopened: Vec<(PathBuf, LibraryError)>,
}

/// The runs of a library.
pub struct Listing {
    /// Newest first.
    pub rows: Vec<Arc<Row>>,
    /// Why folders that may be runs are missing from the rows.
    pub warnings: Vec<String>,
}

impl Row {
    /// Returns a key that distinguishes the drive from others.
    pub fn drive(&self) -> String {
        let drive = self.file.target.drive();
        // Imported results are not mixed with results measured by this Plateau.
        if self.file.imported { format!("imported:{drive}") } else { drive }
    }

    /// Marks that must be shown with the run's figures.
    pub fn marks(&self) -> Vec<&'static str> {
        let mut marks = Vec::new();
        marks.extend(self.file.target.simulated.as_ref().map(|_| "SIMULATED"));
        marks.extend(self.file.imported.then_some("IMPORTED"));
        marks.extend((self.deviations > 0).then_some("MODIFIED"));
        marks.extend(match self.state {
            State::Known(Standing::Unsteady) => Some("NOT STEADY"),
            State::Known(Standing::Incomplete) => Some("NOT COMPLETE"),
            _ => None,
        });
        marks
    }
}

/// Number of runs that one thread examines at a time; fewer are not worth another thread.
const PART: usize = 256;

/// A run with its row, and the stamp of its journal when the row was derived.
struct Known {
    place: Candidate,
    stamp: Option<Stamp>,
    row: Arc<Row>,
}

/// All runs, by name.
type Rows = Vec<Known>;

/// The rows of a library.
pub struct Catalogue {
    library: Library,
    /// Held while runs are listed.
    turn: Mutex<()>,
    rows: Mutex<Arc<Rows>>,
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
            turn: Mutex::default(),
            rows: Mutex::default(),
            shared: Shared::default(),
            targets: Targets::default(),
            added: Mutex::default(),
        }
    }

    /// Returns all runs, newest first.
    pub fn rows(&self) -> Result<Vec<Arc<Row>>, String> {
        self.listing().map(|listing| listing.rows)
    }

    /// Returns all runs, and the folders that cannot be read.
    pub fn listing(&self) -> Result<Listing, String> {
        // The first list reads every journal, which takes seconds in a large library. Requests that arrive in the meantime
        // wait for its rows instead of reading the same journals.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Scan { rows, unopened } = self.scan()?;
        let added = self.added();
        let labelled = |row: &Arc<Row>| match added.digest(&row.file.id) {
            Some(_) => Arc::new(with_labels(row, &added)),
            None => Arc::clone(row),
        };
        let mut listed: Vec<Arc<Row>> = rows.iter().map(|known| labelled(&known.row)).collect();
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(rows);
        listed.sort_by(|a, b| b.file.created.cmp(&a.file.created).then_with(|| a.file.id.cmp(&b.file.id)));
        let warnings = unopened.iter().map(|(_, error)| with_causes(error)).collect();
        Ok(Listing { rows: listed, warnings })
    }

    /// Returns how the runs in the library use a target.
    pub fn usage(&self, is_its: impl Fn(&TargetFacts) -> bool) -> Usage {
        self.targets.usage(&self.library, is_its)
    }

    fn scan(&self) -> Result<Scan, String> {
        let root = self.library.root();
        let failed = |error: std::io::Error| format!("cannot list {}: {error}", root.display());
        let candidates = self.library.candidates().map_err(failed)?;
        let known = Arc::clone(&self.rows.lock().unwrap_or_else(PoisonError::into_inner));
        let parts: Vec<&[Candidate]> = candidates.chunks(PART).collect();
        let examined = mapped(&parts, |part| {
            part.iter().filter_map(|place| self.examined(place, &known)).collect::<Vec<_>>()
        });
        let mut scan = Scan::default();
        for found in examined.into_iter().flatten() {
            match found {
                Ok(known) => scan.rows.push(known),
                Err(unopened) => scan.unopened.push(unopened),
            }
        }
        Ok(scan)
    }

    /// Returns a run with its row, or why it cannot be opened; None if it is not a run.
    fn examined(&self, place: &Candidate, known: &Rows) -> Option<Result<Known, (PathBuf, LibraryError)>> {
        if place.name.as_encoded_bytes().starts_with(b".") {
            return None;
        }
        let dir = place.path_in(self.library.root());
        let [_, journal] = self.library.files_of(&dir);
        let stamp = Stamp::of(&journal);
        let before = known.binary_search_by(|known| known.place.cmp(place)).ok().map(|at| &known[at]);
        let current = before.filter(|known| known.stamp == stamp && is_current(&known.row, &dir));
        let row = current
            .map_or_else(|| row_of(&dir, &self.shared).map(Arc::new), |known| Ok(Arc::clone(&known.row)));
        match row {
            Ok(row) => Some(Ok(Known { place: place.clone(), stamp, row })),
            Err(error) if may_be_a_run(&place.name, &journal) => Some(Err((dir, error))),
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

fn with_labels(row: &Row, added: &Annotations) -> Row {
    let id = &row.file.id;
    let mut file = Facts::clone(&row.file);
    file.labels = added.labels(id, &row.file.labels);
    Row { file: Arc::new(file), archived: added.archived(id).is_some(), ..row.clone() }
}

/// Returns whether a row is still valid: even if the journal is unchanged, the process that executes the run may have
/// started or ended. The file `run.json` is not read again, because thousands of runs may be incomplete.
fn is_current(row: &Row, dir: &Path) -> bool {
    let is_running = || transfer::appears_in_progress_at(dir);
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
