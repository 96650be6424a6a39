//! Brings a store up to date with its library: several threads read and fold runs while another one writes the rows
//! of the runs before them, because most of the time for writing is spent waiting for the disk.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use record::{Annotations, Candidate, Detail, Library};

use crate::compared::Compared;
use crate::error::StoreError;
use crate::fold::{Rows, fold, run_key};
use crate::index::{InProgress, Index, added_to};
use crate::sources::{self, Source, State};
use crate::summary::Updated;
use crate::tables::TABLES;
use crate::value::Value;

/// Limits on the runs whose rows are written in one transaction, and on their rows. They limit the memory used and how
/// long other processes wait for the lock.
const MOST_RUNS: usize = 256;
const MOST_ROWS: usize = 20_000;
/// Number of runs that wait until their rows are written.
const WAITING: usize = 16;
/// Number of runs whose rows are removed by one statement.
const PART: usize = 32;

impl Index {
    /// Brings the store up to date with the library.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read or the database fails. Transactions committed before the
    /// error remain.
    pub fn update(&mut self, in_progress: InProgress) -> Result<Updated, StoreError> {
        let candidates = sources::candidates(&self.runs)?;
        let compared = self.files_compared(&candidates)?;
        let stale = stale(&candidates, &compared);
        // Counting the rows afterwards would read the whole table once more.
        let runs = compared.rows.iter().flatten().count() + compared.gone.len();
        let mut updated = Updated { runs, ..Updated::default() };
        self.read_and_write(&stale, in_progress, &compared.annotations, &mut updated)?;
        updated.unreadable.sort();
        updated.removed = self.erase_missing(&missing(&candidates, &compared))?;
        updated.runs = updated.runs.saturating_sub(updated.removed);
        Ok(updated)
    }

    /// Returns the number of runs if the store has the rows of all runs as they are now, and no other rows.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read or the database fails.
    pub fn runs_if_current(&mut self) -> Result<Option<usize>, StoreError> {
        let candidates = sources::candidates(&self.runs)?;
        let compared = self.files_compared(&candidates)?;
        let is_current =
            stale(&candidates, &compared).is_empty() && missing(&candidates, &compared).is_empty();
        Ok(is_current.then(|| compared.rows.iter().flatten().count()))
    }

    /// Compares the files of the library's runs with those from which the rows were made.
    fn files_compared(&mut self, candidates: &[Candidate]) -> Result<Compared<Option<Source>>, StoreError> {
        self.compared(candidates, "", |row, judged_by, annotations| {
            row.made_from(judged_by, annotations).map(|(_, source)| source)
        })
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

    /// Reads runs on all processors and replaces their rows.
    fn read_and_write(
        &mut self,
        stale: &[Stale<'_>],
        in_progress: InProgress,
        annotations: &Annotations,
        updated: &mut Updated,
    ) -> Result<(), StoreError> {
        let (runs, library) = (&self.runs.clone(), &*self.library.clone());
        let next = &AtomicUsize::new(0);
        let read_next = move || {
            let of = *stale.get(next.fetch_add(1, Ordering::Relaxed))?;
            Some(Read { of, rows: read_run(runs, library, of.folder, in_progress, annotations) })
        };
        let threads = stdx::parallel::processors().min(stale.len());
        if threads < 2 {
            return self.write_all(std::iter::from_fn(read_next), updated);
        }
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(WAITING);
            for _ in 0..threads {
                let sender = sender.clone();
                // Sending fails if an error occurred while rows were written.
                let work = move || while read_next().is_some_and(|read| sender.send(read).is_ok()) {};
                // If the process may not start more threads, those that it has read all runs.
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            drop(sender);
            // If there is no other thread, this one reads the runs; otherwise, none are left.
            self.write_all(receiver.into_iter().chain(std::iter::from_fn(read_next)), updated)
        })
    }

    /// Replaces the rows of runs, several runs at a time.
    fn write_all<'a>(
        &mut self,
        reads: impl Iterator<Item = Read<'a>>,
        updated: &mut Updated,
    ) -> Result<(), StoreError> {
        let (mut batch, mut rows) = (Vec::new(), 0);
        for read in reads {
            rows += read.rows.as_ref().map_or(0, |run| run.as_ref().map_or(0, |run| run.rows.count()));
            batch.push(read);
            if batch.len() >= MOST_RUNS || rows >= MOST_ROWS {
                self.write(std::mem::take(&mut batch), updated)?;
                rows = 0;
            }
        }
        self.write(batch, updated)
    }

    /// Replaces the rows of runs in one transaction.
    fn write(&mut self, batch: Vec<Read<'_>>, updated: &mut Updated) -> Result<(), StoreError> {
        let (mut complete, mut unreadable) = (Vec::new(), Vec::new());
        let (mut added, mut lost) = (0, 0);
        for Read { of: Stale { folder, source, has_rows }, rows } in batch {
            match rows {
                Ok(Some(read)) => {
                    added += usize::from(!has_rows);
                    complete.push((folder, source, read));
                }
                Ok(None) => {}
                Err(problem) => {
                    lost += usize::from(has_rows);
                    unreadable.push((folder.to_owned(), problem));
                }
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
        updated.runs = (updated.runs + added).saturating_sub(lost);
        updated.unreadable.extend(unreadable);
        Ok(())
    }

    /// Inserts the rows of runs, table by table.
    fn insert(&mut self, complete: Vec<(&str, Source, ReadRun)>) -> Result<(), StoreError> {
        let mut of_tables: Vec<Vec<Vec<Value>>> = TABLES.iter().map(|_| Vec::new()).collect();
        let mut sources = Vec::new();
        for (folder, source, ReadRun { rows, annotations, run_id }) in complete {
            let own: [Value; 7] = [
                (&*rows.run_key).into(),
                (&*self.library).into(),
                folder.into(),
                (&*self.judged_by).into(),
                annotations.as_deref().into(),
                (&*run_id).into(),
                rows.listed.into(),
            ];
            sources.push(own.into_iter().chain(source.values()).collect());
            of_tables.iter_mut().zip(rows.of_tables).for_each(|(all, rows)| all.extend(rows));
        }
        for (table, rows) in TABLES.iter().zip(&of_tables) {
            let columns: Vec<&str> =
                std::iter::once("run_key").chain(table.columns.iter().map(|column| column.name)).collect();
            self.engine.insert(table.name, &columns, rows)?;
        }
        let own = ["run_key", "library", "folder", "judged_by", "annotations", "run_id", "listed"];
        let columns = [&own[..], &Source::COLUMNS].concat();
        self.engine.insert("source", &columns, &sources)
    }

    /// Removes the rows of runs.
    fn erase(&mut self, folders: &[&str]) -> Result<(), StoreError> {
        for part in folders.chunks(PART) {
            let keys: Vec<Value> =
                part.iter().map(|folder| Value::from(run_key(&self.library, folder))).collect();
            let places: Vec<String> = (1..=keys.len()).map(|number| format!("${number}")).collect();
            let condition = format!("run_key IN ({})", places.join(", "));
            // A run without this row has no other rows either; most new runs have none.
            let known = self.engine.query(&format!("SELECT run_key FROM source WHERE {condition}"), &keys)?;
            if !known.rows.is_empty() {
                self.delete(&condition, &keys)?;
            }
        }
        Ok(())
    }

    /// Removes the rows of those of these runs that do not exist or cannot be read.
    fn erase_missing(&mut self, missing: &[&str]) -> Result<usize, StoreError> {
        // A run that is missing from the list may have been created and indexed by another process since the
        // list was read.
        let is_gone = |folder: &&str| Source::of(&self.runs, &self.runs.path_of(folder)).is_none();
        let gone: Vec<&str> = missing.iter().copied().filter(is_gone).collect();
        if !gone.is_empty() {
            self.transaction(|index| index.erase(&gone))?;
        }
        Ok(gone.len())
    }
}

/// A run that has to be read.
#[derive(Clone, Copy)]
struct Stale<'a> {
    folder: &'a str,
    /// The state of the run's files before the run was read; if it changes while the run is being read, the run
    /// is re-read later.
    source: Source,
    /// Whether the store has rows of the run.
    has_rows: bool,
}

/// Returns the runs that have to be read.
fn stale<'a>(candidates: &'a [Candidate], compared: &Compared<Option<Source>>) -> Vec<Stale<'a>> {
    let with_state = candidates.iter().zip(&compared.states).zip(&compared.rows);
    let stale = with_state.filter_map(|((candidate, state), row)| match state {
        State::Complete(source) if *row != Some(Some(*source)) => {
            Some(Stale { folder: candidate.name.to_str()?, source: *source, has_rows: row.is_some() })
        }
        _ => None,
    });
    stale.collect()
}

/// Returns the runs in the store that are not in the library, or are no longer complete.
fn missing<'a>(candidates: &'a [Candidate], compared: &'a Compared<Option<Source>>) -> Vec<&'a str> {
    let with_state = candidates.iter().zip(&compared.states).zip(&compared.rows);
    let partial = with_state.filter_map(|((candidate, state), row)| match state {
        State::Other | State::Partial if row.is_some() => candidate.name.to_str(),
        _ => None,
    });
    partial.chain(compared.gone.iter().map(String::as_str)).collect()
}

/// A run that was read.
struct Read<'a> {
    of: Stale<'a>,
    /// None if the run is left out.
    rows: Result<Option<ReadRun>, String>,
}

/// The rows of a run, and the hash of the last record about it in the library's journal.
struct ReadRun {
    rows: Rows,
    annotations: Option<String>,
    run_id: String,
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
    let loaded = run.load_detail(Detail::Conclusions).map_err(|error| error.to_string())?;
    let rows = fold(library, folder, &run.file, &loaded, annotations)?;
    let annotations = added_to(annotations, &run.file.id);
    Ok(Some(ReadRun { rows, annotations, run_id: run.file.id }))
}
