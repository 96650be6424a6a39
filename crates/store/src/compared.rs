//! Compares a library with its rows: one pass over the names in the library and the rows in the store, both in the same
//! order.

use std::cmp::Ordering;
use std::os::unix::ffi::OsStrExt as _;

use record::{Annotations, Candidate};

use crate::error::StoreError;
use crate::index::Index;
use crate::sources::{self, Source, State};
use crate::value::{Cell, Value};

/// Everything in a library that may be a run, compared with the rows.
pub struct Compared<T> {
    /// State of each candidate's files.
    pub states: Vec<State>,
    /// What was made of each candidate's row; None if it has none.
    pub rows: Vec<Option<T>>,
    /// Folders of the rows without a candidate.
    pub gone: Vec<String>,
    /// Annotations of the library's runs.
    pub annotations: Annotations,
}

/// A row of the `source` table.
pub struct SourceRow<'a> {
    cells: &'a [Cell<'a>],
}

impl SourceRow<'_> {
    /// Columns of each row.
    pub const COLUMNS: &'static str = "source.folder, source.judged_by, source.run_id, source.annotations, \
        source.run_file_bytes, source.run_file_modified_ns, source.journal_bytes, source.journal_modified_ns";

    fn text(&self, at: usize) -> Option<&str> {
        self.cells.get(at)?.text()
    }

    /// Returns the id of the run and the state of the files from which this build made the rows; None if another build made
    /// them, or if the run has other annotations since.
    pub fn made_from(&self, judged_by: &str, annotations: &Annotations) -> Option<(&str, Source)> {
        let run_id = self.text(2).filter(|_| self.text(1) == Some(judged_by))?;
        let is_current = match (annotations.digest(run_id), self.text(3)) {
            (Some(digest), Some(known)) => digest.is(known),
            (digest, known) => digest.is_none() && known.is_none(),
        };
        let mut numbers = self.cells.get(4..8)?.iter().map(Cell::integer);
        Some((run_id, Source::of_values(&mut numbers)?)).filter(|_| is_current)
    }

    /// Returns the text in the column after [`COLUMNS`](Self::COLUMNS).
    pub fn further(&self) -> Option<&str> {
        self.text(8)
    }
}

impl Index {
    /// Compares the candidates of the library, in order, with their rows. `further` is empty or contains a comma and one more
    /// column.
    pub(crate) fn compared<T>(
        &mut self,
        candidates: &[Candidate],
        further: &str,
        mut of_row: impl FnMut(&SourceRow<'_>, &str, &Annotations) -> T,
    ) -> Result<Compared<T>, StoreError> {
        let annotations = self.annotations()?;
        // In a library, runs have the order of their keys.
        let query = format!(
            "SELECT {}{further} FROM source WHERE source.library = $1 ORDER BY source.run_key",
            SourceRow::COLUMNS
        );
        let mut rows: Vec<Option<T>> = candidates.iter().map(|_| None).collect();
        let (mut gone, mut next) = (Vec::new(), 0);
        let mut take = |cells: &[Cell<'_>]| {
            let Some(folder) = cells.first().and_then(Cell::text) else { return };
            while let Some(candidate) = candidates.get(next) {
                match candidate.name.as_bytes().cmp(folder.as_bytes()) {
                    Ordering::Less => next += 1,
                    Ordering::Equal => {
                        rows[next] = Some(of_row(&SourceRow { cells }, &self.judged_by, &annotations));
                        next += 1;
                        return;
                    }
                    Ordering::Greater => break,
                }
            }
            gone.push(folder.to_owned());
        };
        let library = [Value::from(&*self.library)];
        // Most of the time is spent in system calls, which all processors make in parallel.
        let (states, read) =
            sources::states_while(&self.runs, candidates, || self.engine.each(&query, &library, &mut take));
        read?;
        Ok(Compared { states, rows, gone, annotations })
    }
}
