//! The store of a library, kept up to date with its journals.

use std::collections::BTreeMap;
use std::path::Path;

use pts::Standing;
use record::{Annotations, Candidate, Library};

use crate::engine::{Access, Engine, Limits};
use crate::error::StoreError;
use crate::packed::PackedRun;
use crate::schema;
use crate::sources::{self, Source, State};
use crate::sqlite::Sqlite;
use crate::summary::Place;
use crate::tables::{TABLES, Table};
use crate::value::{Answer, Value};

/// The store of a library.
pub struct Index {
    pub(crate) engine: Box<dyn Engine>,
    /// The library.
    pub(crate) runs: Library,
    /// Name of the library within the store.
    pub(crate) library: String,
    /// The build that evaluated the runs and wrote the rows.
    pub(crate) judged_by: String,
}

/// A folder in a library as the store sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// The rows are up to date.
    Current(PackedRun, Standing),
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

/// What the row of a run shows, and the state of the files from which it was made; None for the row of another build.
type Known = Option<(Source, (PackedRun, Standing))>;

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

    /// Returns every folder of the library that may be a run. A folder that is not a complete run is stale, so that the
    /// caller reads it and reports the problem.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read or the database fails.
    pub fn survey(&mut self) -> Result<BTreeMap<String, Seen>, StoreError> {
        let candidates = sources::candidates(&self.runs)?;
        let seen = self.survey_of(&candidates)?;
        let with_name =
            |(candidate, seen): (Candidate, Option<Seen>)| Some((candidate.name.into_string().ok()?, seen?));
        Ok(candidates.into_iter().zip(seen).filter_map(with_name).collect())
    }

    /// Same as [`survey`](Self::survey), but for the candidates that the caller listed, in this order; None for a candidate
    /// that cannot be a run or whose name no run id can be.
    ///
    /// # Errors
    /// Same as [`survey`](Self::survey).
    pub fn survey_of(&mut self, candidates: &[Candidate]) -> Result<Vec<Option<Seen>>, StoreError> {
        let compared = self.compared(candidates, ", source.listed", |row, judged_by, annotations| {
            let (run_id, source) = row.made_from(judged_by, annotations)?;
            // A run whose row this build cannot interpret is read from its journal.
            Some((source, PackedRun::of(run_id, row.further()?)?))
        })?;
        let seen = |(state, row): (State, Option<Known>)| match state {
            State::Other => None,
            State::Partial => Some(Seen::Stale),
            State::Complete(source) => Some(match row.flatten().filter(|(known, _)| *known == source) {
                Some((_, (run, standing))) => Seen::Current(run, standing),
                None => Seen::Stale,
            }),
        };
        Ok(compared.states.into_iter().zip(compared.rows).map(seen).collect())
    }

    /// Returns the number of runs of the library in the store.
    pub(crate) fn count_runs(&mut self) -> Result<usize, StoreError> {
        let count = "SELECT COUNT(*) FROM source WHERE library = $1";
        let counted = self.engine.query(count, &[(&*self.library).into()])?;
        let runs = counted.rows.first().and_then(|row| row.first()?.integer());
        Ok(runs.and_then(|runs| usize::try_from(runs).ok()).unwrap_or(0))
    }

    /// Returns all annotations of runs in the library.
    pub(crate) fn annotations(&self) -> Result<Annotations, StoreError> {
        Ok(self.runs.annotations()?)
    }

    /// Removes the rows that meet a condition from all tables; from `source` last, because the condition may refer to it.
    pub(crate) fn delete(&mut self, condition: &str, values: &[Value]) -> Result<(), StoreError> {
        let names = TABLES.iter().map(|table| table.name).chain(["source"]);
        names.into_iter().try_for_each(|name| {
            self.engine.execute(&format!("DELETE FROM {name} WHERE {condition}"), values)
        })
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

/// Returns the hash of the last annotation of a run.
pub(crate) fn added_to(annotations: &Annotations, run_id: &str) -> Option<String> {
    annotations.digest(run_id).map(|digest| digest.to_string())
}
