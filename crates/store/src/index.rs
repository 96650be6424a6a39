//! The store of a library, kept up to date with its journals.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pts::Standing;
use record::{Annotations, Library};

use crate::engine::{Access, Engine, Limits};
use crate::error::StoreError;
use crate::fold::{Rows, fold, run_key};
use crate::listing::{self, ListedRun};
use crate::schema;
use crate::sources::{self, Source};
use crate::sqlite::Sqlite;
use crate::summary::{Place, Updated};
use crate::tables::{TABLES, Table};
use crate::value::{Answer, Value};

/// Number of runs that are folded before their rows are written in one transaction. This limits the memory used
/// and how long other processes wait for the lock.
const BATCH: usize = 32;

/// The store of a library.
pub struct Index {
    engine: Box<dyn Engine>,
    /// The library.
    runs: Library,
    /// Name of the library within the store.
    library: String,
    /// The build that evaluated the runs and wrote the rows.
    judged_by: String,
}

/// A folder in a library as the store sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// The rows are up to date.
    Current(Box<ListedRun>, Standing),
    /// The run has to be read.
    Stale,
}

/// Whether an update includes runs in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InProgress {
    /// Runs in progress are included.
    Included,
    /// Runs that a process is working on are left out, because their rows would immediately be out of date.
    LeftOut,
}

impl Index {
    /// Opens the index in a library; if it is missing and the library is writable, it is created.
    ///
    /// # Errors
    /// Returns an error if the index cannot be opened, is not trusted, or has a newer schema.
    pub fn open(root: &Path, judged_by: &str, access: Access) -> Result<Self, StoreError> {
        let mut engine = Sqlite::open(root, access)?;
        if access == Access::Write {
            schema::migrate(&mut engine)?;
        }
        // An index that cannot be read yet is created or migrated by the next command that can write it.
        Self::on(Box::new(engine), root, "", judged_by).map_err(|error| match error {
            StoreError::Empty { store } | StoreError::Older { store, .. } => StoreError::Missing { store },
            other => other,
        })
    }

    /// Opens the index in a library for writing and uses it. If the index turns out to be damaged, removes it and calls
    /// `body` again with a new one.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open) and of `body`.
    pub fn with<T>(
        root: &Path,
        judged_by: &str,
        mut body: impl FnMut(&mut Self) -> Result<T, StoreError>,
    ) -> Result<(Self, T), StoreError> {
        let mut attempt = || {
            let mut index = Self::open(root, judged_by, Access::Write)?;
            let found = body(&mut index)?;
            Ok((index, found))
        };
        match attempt() {
            Err(StoreError::Damaged { .. }) => {
                Sqlite::remove(root)?;
                attempt()
            }
            other => other,
        }
    }

    /// Creates an empty index in memory, for a library that cannot have an index file.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn in_memory(root: &Path, judged_by: &str) -> Result<Self, StoreError> {
        let mut engine = Sqlite::in_memory()?;
        schema::migrate(&mut engine)?;
        Self::on(Box::new(engine), root, "", judged_by)
    }

    /// Uses a database whose schema is up to date; `library` is the name of the library in it.
    ///
    /// # Errors
    /// Returns an error if the database has another schema or fails.
    pub fn on(
        mut engine: Box<dyn Engine>,
        root: &Path,
        library: &str,
        judged_by: &str,
    ) -> Result<Self, StoreError> {
        schema::require(&mut *engine)?;
        Ok(Self { engine, runs: Library::at(root), library: library.into(), judged_by: judged_by.into() })
    }

    /// Returns every folder of the library that may be a run.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read or the database fails.
    pub fn survey(&mut self) -> Result<BTreeMap<String, Seen>, StoreError> {
        let runs = self.runs.clone();
        let (folders, (annotations, known, mut listed)) = std::thread::scope(|scope| {
            let folders = scope.spawn(move || sources::folders(&runs));
            let stored = self.stored();
            let folders = folders.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok::<_, StoreError>((folders?, stored?))
        })?;
        let seen = |(folder, source): (String, Option<Source>)| {
            let is_current = source.is_some_and(|source| is_current(&known, &folder, source, &annotations));
            let seen = match listed.remove(&folder).filter(|_| is_current) {
                Some((run, state)) => Seen::Current(Box::new(run), state),
                None => Seen::Stale,
            };
            (folder, seen)
        };
        Ok(folders.into_iter().map(seen).collect())
    }

    /// Returns the annotations of runs and the content of the store about the library.
    fn stored(&mut self) -> Result<Stored, StoreError> {
        let annotations = self.annotations()?;
        // Both queries see the same state of the store, even if another process is replacing rows.
        self.reading(|index| {
            let known = index.sources()?;
            Ok((annotations, known, listing::listed(&mut *index.engine, &index.library)?))
        })
    }

    /// Returns all annotations of runs in the library.
    fn annotations(&self) -> Result<Annotations, StoreError> {
        Ok(self.runs.annotations()?)
    }

    /// Returns the data from which the rows of each run indexed by this build were made.
    fn sources(&mut self) -> Result<BTreeMap<String, Folded>, StoreError> {
        let columns = Source::COLUMNS.map(|column| format!("source.{column}")).join(", ");
        let query = format!(
            "SELECT source.folder, run.run_id, source.annotations, {columns} \
             FROM source JOIN run ON run.run_key = source.run_key \
             WHERE source.library = $1 AND source.judged_by = $2"
        );
        let answer = self.engine.query(&query, &[(&*self.library).into(), (&*self.judged_by).into()])?;
        let of_row = |row: &Vec<Value>| {
            let text = |at: usize| row.get(at)?.text().map(str::to_owned);
            let source = Source::of_values(row.get(3..)?)?;
            Some((text(0)?, Folded { run_id: text(1)?, annotations: text(2), source }))
        };
        Ok(answer.rows.iter().filter_map(of_row).collect())
    }

    /// Brings the store up to date with the library.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read or the database fails. Transactions committed before the
    /// error remain.
    pub fn update(&mut self, in_progress: InProgress) -> Result<Updated, StoreError> {
        let folders = sources::folders(&self.runs)?;
        let annotations = self.annotations()?;
        let known = self.sources()?;
        let stale: Vec<(&str, Source)> = folders
            .iter()
            .filter_map(|(folder, source)| Some((&**folder, (*source)?)))
            .filter(|(folder, source)| !is_current(&known, folder, *source, &annotations))
            .collect();
        let mut updated = Updated::default();
        for batch in stale.chunks(BATCH) {
            let read = self.read(batch, in_progress, &annotations);
            self.write(read, &mut updated)?;
        }
        updated.removed = self.forget_missing(&folders)?;
        let count = "SELECT COUNT(*) FROM run WHERE library = $1";
        let counted = self.engine.query(count, &[(&*self.library).into()])?;
        let runs = counted.rows.first().and_then(|row| row.first()?.integer());
        updated.runs = runs.and_then(|runs| usize::try_from(runs).ok()).unwrap_or(0);
        Ok(updated)
    }

    /// Folds all journals again. The rows of a run remain until they are replaced, so others always find every run.
    ///
    /// # Errors
    /// Returns the errors of [`update`](Self::update).
    pub fn rebuild(&mut self) -> Result<Updated, StoreError> {
        let library = [Value::from(&*self.library)];
        // No build has this name, so all rows are out of date.
        let outdated = "UPDATE source SET judged_by = '' WHERE library = $1";
        self.transaction(|index| index.engine.execute(outdated, &library))?;
        self.update(InProgress::Included)
    }

    /// Reads and folds runs, on all processors.
    fn read<'a>(
        &self,
        batch: &[(&'a str, Source)],
        in_progress: InProgress,
        annotations: &Annotations,
    ) -> Vec<Read<'a>> {
        let (runs, library) = (&self.runs, &*self.library);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let share = batch.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let workers: Vec<_> = batch
                .chunks(share)
                .map(|part| {
                    let read = move |(folder, source): &(&'a str, Source)| Read {
                        folder,
                        source: *source,
                        rows: read_run(runs, library, folder, in_progress, annotations),
                    };
                    scope.spawn(move || part.iter().map(read).collect::<Vec<_>>())
                })
                .collect();
            let joined = |worker: std::thread::ScopedJoinHandle<'_, Vec<Read<'a>>>| match worker.join() {
                Ok(read) => read,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            workers.into_iter().flat_map(joined).collect()
        })
    }

    /// Replaces the rows of runs in one transaction.
    fn write(&mut self, batch: Vec<Read<'_>>, updated: &mut Updated) -> Result<(), StoreError> {
        let (mut complete, mut unreadable) = (Vec::new(), Vec::new());
        for Read { folder, source, rows } in batch {
            match rows {
                Ok(Some(read)) => complete.push((folder, source, read)),
                Ok(None) => {}
                Err(problem) => unreadable.push((folder.to_owned(), problem)),
            }
        }
        updated.indexed += complete.len();
        let bytes = complete.iter().map(|(_, source, _)| source.journal_bytes.unsigned_abs());
        updated.journal_bytes += bytes.sum::<u64>();
        if !complete.is_empty() || !unreadable.is_empty() {
            self.transaction(|index| {
                let read = complete.iter().map(|(folder, ..)| *folder);
                let replaced: Vec<&str> =
                    unreadable.iter().map(|(folder, _)| &**folder).chain(read).collect();
                index.erase(&replaced)?;
                index.insert(complete)
            })?;
        }
        updated.unreadable.extend(unreadable);
        Ok(())
    }

    /// Inserts the rows of runs, table by table.
    fn insert(&mut self, complete: Vec<(&str, Source, ReadRun)>) -> Result<(), StoreError> {
        let mut of_tables: Vec<Vec<Vec<Value>>> = TABLES.iter().map(|_| Vec::new()).collect();
        let mut sources = Vec::new();
        for (folder, source, ReadRun { rows, annotations }) in complete {
            let own = [
                (&*rows.run_key).into(),
                (&*self.library).into(),
                folder.into(),
                (&*self.judged_by).into(),
                annotations.as_deref().into(),
            ];
            sources.push(own.into_iter().chain(source.values()).collect());
            of_tables.iter_mut().zip(rows.of_tables).for_each(|(all, rows)| all.extend(rows));
        }
        for (table, rows) in TABLES.iter().zip(&of_tables) {
            let columns: Vec<&str> =
                std::iter::once("run_key").chain(table.columns.iter().map(|column| column.name)).collect();
            self.engine.insert(table.name, &columns, rows)?;
        }
        let columns =
            [&["run_key", "library", "folder", "judged_by", "annotations"][..], &Source::COLUMNS].concat();
        self.engine.insert("source", &columns, &sources)
    }

    /// Removes the rows of runs.
    fn erase(&mut self, folders: &[&str]) -> Result<(), StoreError> {
        for part in folders.chunks(BATCH) {
            let keys: Vec<Value> =
                part.iter().map(|folder| Value::from(run_key(&self.library, folder))).collect();
            let places: Vec<String> = (1..=keys.len()).map(|number| format!("${number}")).collect();
            self.delete(&format!("run_key IN ({})", places.join(", ")), &keys)?;
        }
        Ok(())
    }

    /// Removes the rows that meet a condition from all tables; from `source` last, because the condition may refer to it.
    pub(crate) fn delete(&mut self, condition: &str, values: &[Value]) -> Result<(), StoreError> {
        let names = TABLES.iter().map(|table| table.name).chain(["source"]);
        names.into_iter().try_for_each(|name| {
            self.engine.execute(&format!("DELETE FROM {name} WHERE {condition}"), values)
        })
    }

    pub(crate) fn all_folders(&mut self) -> Result<BTreeSet<String>, StoreError> {
        let answer =
            self.engine.query("SELECT folder FROM source WHERE library = $1", &[(&*self.library).into()])?;
        Ok(answer.rows.iter().filter_map(|row| row.first()?.text().map(str::to_owned)).collect())
    }

    /// Removes the rows of runs that no longer exist, or can no longer be read.
    fn forget_missing(&mut self, folders: &BTreeMap<String, Option<Source>>) -> Result<usize, StoreError> {
        let known = self.all_folders()?;
        // A run that is missing from the list may have been created and indexed by another process since the
        // list was read.
        let is_gone = |folder: &&String| {
            folders.get(*folder).is_none_or(Option::is_none)
                && Source::of(&self.runs, &self.runs.path_of(folder)).is_none()
        };
        let gone: Vec<&str> = known.iter().filter(is_gone).map(String::as_str).collect();
        if !gone.is_empty() {
            self.transaction(|index| index.erase(&gone))?;
        }
        Ok(gone.len())
    }

    pub(crate) fn transaction(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.engine.begin(&self.library)?;
        // Another version of Plateau may have changed the tables in the meantime.
        let checked = schema::require(&mut *self.engine);
        let done = checked.and_then(|()| body(self)).and_then(|()| self.engine.commit());
        if done.is_err() {
            self.engine.rollback();
        }
        done
    }

    /// Executes a query entered by a user and closes the index.
    ///
    /// # Errors
    /// Returns an error if `query` is not a query or exceeds a limit, or if the database fails.
    pub fn ask(self, query: &str, limits: Limits) -> Result<Answer, StoreError> {
        self.engine.ask(query, limits)
    }

    /// Executes one of this program's queries.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn query(&mut self, query: &str, values: &[Value]) -> Result<Answer, StoreError> {
        self.engine.query(query, values)
    }

    /// Returns where the store is, and the name of the library in it.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { store: self.engine.place(), library: self.library.clone() }
    }

    /// Returns the name of the library within the store.
    pub(crate) fn library(&self) -> &str {
        &self.library
    }

    /// Calls `body`, whose queries all see the same state of the store. Meanwhile, others can read the store but not
    /// change it.
    ///
    /// # Errors
    /// Returns an error if the database fails, or the error of `body`.
    pub fn reading<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.engine.begin_reading()?;
        let found = body(self);
        // There is nothing to commit.
        self.engine.rollback();
        found
    }

    /// Returns all rows of the library as text, the same for every engine and every name of the library.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn dump(&mut self) -> Result<String, StoreError> {
        let mut out = String::new();
        for Table { name, columns, .. } in TABLES {
            let columns = columns.iter().map(|column| column.name).filter(|column| *column != "library");
            let columns: String = columns.map(|column| format!(", {name}.{column}")).collect();
            let query = format!(
                "SELECT source.folder{columns} FROM {name} JOIN source ON source.run_key = {name}.run_key \
                 WHERE source.library = $1"
            );
            let answer = self.engine.query(&query, &[(&*self.library).into()])?;
            let mut lines: Vec<String> = answer.rows.iter().map(|row| format!("{name}: {row:?}\n")).collect();
            lines.sort();
            out.extend(lines);
        }
        Ok(out)
    }
}

/// The annotations of runs, the data from which their rows were made, and the data that lists show.
type Stored = (Annotations, BTreeMap<String, Folded>, BTreeMap<String, (ListedRun, Standing)>);

/// A run that was read.
struct Read<'a> {
    folder: &'a str,
    /// The state of the run's files before the run was read; if it changes while the run is being read, the run
    /// is re-read later.
    source: Source,
    /// None if the run is left out.
    rows: Result<Option<ReadRun>, String>,
}

/// The rows of a run, and the hash of the last record about it in the library's journal.
struct ReadRun {
    rows: Rows,
    annotations: Option<String>,
}

/// The data from which a run's rows were made.
struct Folded {
    run_id: String,
    annotations: Option<String>,
    source: Source,
}

/// Returns whether the rows of a run were made from the current state of its files and annotations.
fn is_current(
    known: &BTreeMap<String, Folded>,
    folder: &str,
    source: Source,
    annotations: &Annotations,
) -> bool {
    known.get(folder).is_some_and(|folded| {
        folded.source == source && folded.annotations == added_to(annotations, &folded.run_id)
    })
}

fn added_to(annotations: &Annotations, run_id: &str) -> Option<String> {
    annotations.digest(run_id).map(|digest| digest.to_string())
}

fn read_run(
    runs: &Library,
    library: &str,
    folder: &str,
    in_progress: InProgress,
    annotations: &Annotations,
) -> Result<Option<ReadRun>, String> {
    let run = runs.open(folder).map_err(|error| error.to_string())?;
    if in_progress == InProgress::LeftOut && run.is_in_progress().unwrap_or(false) {
        return Ok(None);
    }
    let loaded = run.load().map_err(|error| error.to_string())?;
    let rows = fold(library, folder, &run.file, &loaded, annotations)?;
    Ok(Some(ReadRun { rows, annotations: added_to(annotations, &run.file.id) }))
}
