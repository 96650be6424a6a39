//! The rows of a library in a file of the server, so that neither a server that is started again nor each call of
//! `plateau metrics` has to read every journal.
//!
//! A row is used again only by the same build, and only if neither the run file nor the journal has changed since.
//! The file contains only what can be read from the runs, so it may be incomplete or missing.

use std::fs::Permissions;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use follow::Stamp;
use jiff::Timestamp;
use pts::{Standing, Unit};
use record::{Candidate, TargetFacts};
use serde::{Deserialize, Serialize};
use stdx::files::OwnedFolder;

use super::facts::{SavedFacts, Shared};
use super::row::{Figure, Known, Row, State};

const FILE: &str = "rows";
/// Name of the file while it is being written.
const NEXT: &str = "rows.next";
/// Length of the journals from which rows are saved at the earliest. A server reads as much in a tenth of a second.
const WORTH_BYTES: u64 = 16 << 20;
/// Limit on the size of the file, for hundreds of thousands of runs.
const MOST_BYTES: u64 = 1 << 30;

/// The file with the rows.
pub struct SavedRows {
    folder: PathBuf,
    build: String,
    worth_bytes: u64,
}

/// The first line of the file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    /// The build that made the rows: another build may evaluate the runs differently.
    build: String,
    library: PathBuf,
}

/// A line of the file after the first one.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    /// A target, which the next rows refer to by its position among all targets.
    Target(Box<TargetFacts>),
    Run(Box<SavedRun>),
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedRun {
    name: String,
    is_archive: bool,
    run_file: Stamp,
    journal: Stamp,
    target: usize,
    facts: SavedFacts,
    standing: Standing,
    records: usize,
    last_record: Option<Timestamp>,
    figures: Vec<SavedFigure>,
    deviations: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedFigure {
    test: String,
    name: String,
    value: f64,
    unit: Unit,
    decimals: usize,
    host_limited: bool,
}

impl SavedRows {
    /// Returns the file in the folder of the server, for the rows that this build makes.
    pub fn new(folder: &Path, build: String) -> Self {
        Self { folder: folder.into(), build, worth_bytes: WORTH_BYTES }
    }

    /// Saves rows even if only a few bytes have been read.
    #[cfg(test)]
    pub fn at_once(self) -> Self {
        Self { worth_bytes: 1, ..self }
    }

    /// Returns whether rows are saved when journals of this length have been read.
    pub const fn are_worth_it(&self, read_bytes: u64) -> bool {
        read_bytes >= self.worth_bytes
    }

    fn origin(&self, library: &Path) -> Origin {
        Origin { build: self.build.clone(), library: library.into() }
    }

    /// Saves the rows of a library, unless the server has no folder.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or others can write to its folder.
    pub fn write(&self, library: &Path, rows: &[Arc<Known>]) -> io::Result<()> {
        let Some(folder) = OwnedFolder::open(&self.folder)? else { return Ok(()) };
        folder.remove(NEXT)?;
        let file = folder.new_file(NEXT)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        let mut file = BufWriter::new(file);
        let written = self.write_lines(&mut file, library, rows).and_then(|()| file.flush());
        match written {
            Ok(()) => Ok(folder.rename(NEXT, FILE)?),
            Err(error) => {
                // On a full disk, it would be in the way of the runs.
                folder.remove(NEXT)?;
                Err(error)
            }
        }
    }

    fn write_lines(&self, out: &mut impl Write, library: &Path, rows: &[Arc<Known>]) -> io::Result<()> {
        write_line(out, &self.origin(library))?;
        let mut targets: Vec<&Arc<TargetFacts>> = Vec::new();
        for known in rows {
            let of_run = &known.row.file.target;
            let position = targets.iter().position(|target| Arc::ptr_eq(target, of_run));
            let Some(run) = saved(known, position.unwrap_or(targets.len())) else { continue };
            if position.is_none() {
                targets.push(of_run);
                write_line(out, &Line::Target(Box::new(TargetFacts::clone(of_run))))?;
            }
            write_line(out, &Line::Run(Box::new(run)))?;
        }
        Ok(())
    }

    /// Returns the rows of a library that this build has saved and whose run files have not changed since, by name.
    pub fn read(&self, library: &Path, shared: &Shared) -> Vec<Arc<Known>> {
        let folder = OwnedFolder::open(&self.folder).ok().flatten();
        let file = folder.and_then(|folder| folder.file_to_read(FILE).ok().flatten());
        let Some(file) = file else { return Vec::new() };
        let mut lines = BufReader::new(file.take(MOST_BYTES)).lines().map_while(Result::ok);
        let origin = lines.next().and_then(|line| serde_json::from_str::<Origin>(&line).ok());
        if origin != Some(self.origin(library)) {
            return Vec::new();
        }
        let (mut targets, mut rows) = (Vec::new(), Vec::new());
        for line in lines {
            match serde_json::from_str(&line) {
                Ok(Line::Target(target)) => targets.push(shared.target(&target)),
                Ok(Line::Run(run)) => rows.extend(restored(*run, library, &targets, shared).map(Arc::new)),
                // The file was written without waiting for the disk, so its end may be missing after a power failure.
                Err(_) => break,
            }
        }
        rows.sort_unstable_by(|a, b| a.place.cmp(&b.place));
        rows
    }
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// Returns a run to save; None if it is in progress or unreadable, because what is known about it may soon be outdated.
fn saved(known: &Known, target: usize) -> Option<SavedRun> {
    let Known { place, run_file, journal, row } = known;
    let standing = match row.state {
        State::Known(Standing::Running) | State::Unreadable(_) => return None,
        State::Known(standing) => standing,
    };
    let figure = |figure: &Figure| SavedFigure {
        test: figure.test.to_string(),
        name: figure.name.to_string(),
        value: figure.value,
        unit: figure.unit,
        decimals: figure.decimals,
        host_limited: figure.host_limited,
    };
    Some(SavedRun {
        name: place.name.to_str()?.to_owned(),
        is_archive: place.is_archive,
        run_file: (*run_file)?,
        journal: (*journal)?,
        target,
        facts: SavedFacts::from(&*row.file),
        standing,
        records: row.records,
        last_record: row.last_record,
        figures: row.figures.iter().map(figure).collect(),
        deviations: row.deviations,
    })
}

/// Returns a run that was saved; None if its run file has changed.
fn restored(run: SavedRun, library: &Path, targets: &[Arc<TargetFacts>], shared: &Shared) -> Option<Known> {
    let place = Candidate { name: run.name.into(), is_archive: run.is_archive };
    // Lists do not examine it again.
    let run_file = Stamp::of(&place.run_file_in(library)).filter(|stamp| *stamp == run.run_file)?;
    let figure = |figure: SavedFigure| Figure {
        test: shared.text(&figure.test),
        name: shared.text(&figure.name),
        value: figure.value,
        unit: figure.unit,
        decimals: figure.decimals,
        host_limited: figure.host_limited,
    };
    let row = Row {
        file: Arc::new(shared.restored(run.facts, targets.get(run.target)?)?),
        state: State::Known(run.standing),
        records: run.records,
        last_record: run.last_record,
        figures: run.figures.into_iter().map(figure).collect(),
        deviations: run.deviations,
        archived: false,
    };
    Some(Known { place, run_file: Some(run_file), journal: Some(run.journal), row: Arc::new(row) })
}
