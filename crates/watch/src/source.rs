//! Reads the data to show. Listing the library and reading journals take CPU time that a run may need, so both are
//! done rarely.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use follow::snapshot::{Snapshot, Snapshots};
use jiff::Timestamp;
use live::Live;
use record::{Library, Run, gap_ns, wall_now};

use crate::shown::{Hour, Item, Shown};

/// Interval between listings of the library.
const LIST_EVERY_NS: u64 = 5_000_000_000;
/// Pause before a journal is re-read, as a multiple of the time that the last read took.
const REST: u64 = 20;
/// Maximum number of runs that are shown.
const MOST_RUNS: usize = 200;

/// Which runs to show.
#[derive(Debug)]
pub enum Which {
    /// One run, in progress or not.
    One(Box<Run>),
    /// Every run that is in progress, or has been since the program started.
    InProgress,
}

/// Reads runs.
pub struct Source {
    root: PathBuf,
    which: Which,
    snapshots: Snapshots,
    /// Every run in the library that can be opened, by directory.
    runs: BTreeMap<PathBuf, Run>,
    /// Directories of the runs that are shown.
    chosen: BTreeSet<PathBuf>,
    listed: Option<Timestamp>,
    read: BTreeMap<PathBuf, Reading>,
}

struct Reading {
    /// The snapshot, or why there is none: a journal that cannot be read takes as long to read as others.
    found: Result<(Arc<Snapshot>, Arc<Hour>), String>,
    at: Timestamp,
    took_ns: u64,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("root", &self.root).field("which", &self.which).finish_non_exhaustive()
    }
}

impl Source {
    /// Returns a source for the runs in `library`.
    #[must_use]
    pub fn of(library: &Library, which: Which) -> Self {
        Self {
            root: library.root().to_owned(),
            which,
            snapshots: Snapshots::default(),
            runs: BTreeMap::new(),
            chosen: BTreeSet::new(),
            listed: None,
            read: BTreeMap::new(),
        }
    }

    /// Returns the runs at this moment, newest first.
    pub fn look(&mut self) -> Vec<Item> {
        let now = wall_now();
        let mut runs = match &self.which {
            Which::One(run) => vec![(**run).clone()],
            Which::InProgress => {
                if self.listed.is_none_or(|listed| gap_ns(listed, now) >= LIST_EVERY_NS) {
                    self.list();
                    self.listed = Some(now);
                }
                self.chosen.iter().filter_map(|dir| self.runs.get(dir).cloned()).collect()
            }
        };
        runs.sort_by(|a, b| b.file.created.cmp(&a.file.created).then_with(|| a.file.id.cmp(&b.file.id)));
        runs.truncate(MOST_RUNS);
        runs.into_iter().map(|run| self.item(run, now)).collect()
    }

    /// Looks for runs that have started.
    fn list(&mut self) {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        // The names of runs that are being created or removed start with a dot.
        let is_run =
            |dir: &PathBuf| dir.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."));
        let found: BTreeSet<PathBuf> = entries.map(|entry| entry.path()).filter(is_run).collect();
        self.runs.retain(|dir, _| found.contains(dir));
        self.chosen.retain(|dir| found.contains(dir));
        self.read.retain(|dir, _| found.contains(dir));
        for dir in found {
            if !self.runs.contains_key(&dir)
                && let Ok(run) = Run::open(&dir)
            {
                self.runs.insert(dir, run);
            }
        }
        let is_in_progress = |run: &Run| run.appears_in_progress().unwrap_or(false);
        let started = self.runs.iter().filter(|(_, run)| is_in_progress(run)).map(|(dir, _)| dir.clone());
        self.chosen.extend(started);
    }

    fn item(&mut self, run: Run, now: Timestamp) -> Item {
        let id = run.file.id.clone();
        let live = Live::of(&run).unwrap_or_default();
        let shown = self.snapshot(run, now).map(|(snapshot, hour)| Shown { snapshot, live, now, hour });
        Item { id, shown }
    }

    fn snapshot(&mut self, run: Run, now: Timestamp) -> Result<(Arc<Snapshot>, Arc<Hour>), String> {
        let dir: &Path = &run.dir;
        let before = self.read.get(dir);
        if let Some(reading) = before
            && gap_ns(reading.at, now) < reading.took_ns.saturating_mul(REST)
            && now >= reading.at
        {
            return reading.found.clone();
        }
        let dir = dir.to_owned();
        let known = before.and_then(|reading| reading.found.clone().ok());
        let found = self.snapshots.of(run).map(|snapshot| match known {
            // Nothing has changed, so the hour need not be computed again.
            Some((same, hour)) if Arc::ptr_eq(&same, &snapshot) => (snapshot, hour),
            _ => (snapshot, Arc::default()),
        });
        let at = wall_now();
        self.read.insert(dir, Reading { found: found.clone(), at, took_ns: gap_ns(now, at) });
        found
    }
}
