//! Which runs use a target. A run that waits for its drive asks this again and again while another run measures, so
//! no journal is read: `run.json` is read once per run, and then only the locks of the runs on this target are checked.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use follow::Stamp;
use launch::{Lock, lock_of};
use record::{Library, LibraryError, Run, TargetFacts, is_run_id};
use stdx::text::with_causes;

/// How the runs in a library use a target.
#[derive(Debug, Default)]
pub struct Usage {
    /// Why the target must not be used now; None if no run uses it.
    pub by: Option<String>,
    /// Runs that may have this target but cannot be read; no lock shows that a process is working on them.
    pub warnings: Vec<String>,
}

impl Usage {
    /// Returns the usage of a target that must not be used now, for this reason.
    pub fn by(why: String) -> Self {
        Self { by: Some(why), warnings: Vec::new() }
    }
}

/// The part of a run's `run.json` that is needed.
struct Tested {
    id: String,
    target: TargetFacts,
}

/// The target of the run in each directory, with the stamp of its `run.json` when it was read.
#[derive(Default)]
pub struct Targets(Mutex<BTreeMap<PathBuf, Known>>);

type Known = (Option<Stamp>, Arc<Tested>);

/// The contents of a library's folder.
struct Found {
    tested: Vec<(PathBuf, Arc<Tested>)>,
    /// Folders that may be runs, and why they cannot be opened.
    unopened: Vec<(PathBuf, LibraryError)>,
}

impl Targets {
    /// Returns how the runs in the library use a target. This depends on the locks of the journals, not on
    /// their contents: a folder that cannot be read must not prevent every drive in the host from being tested.
    /// If a process that this server cannot see is working on such a run, it also holds the drive, so another
    /// run refuses the drive.
    pub fn usage(&self, library: &Library, is_its: impl Fn(&TargetFacts) -> bool) -> Usage {
        let Found { tested, unopened } = match self.tested(library) {
            Ok(found) => found,
            Err(why) => return Usage::by(why),
        };
        let mut warnings = Vec::new();
        for (dir, run) in tested.iter().filter(|(_, run)| is_its(&run.target)) {
            let id = &run.id;
            match lock_of(dir) {
                Lock::Held => return Usage::by(format!("run {id} is in progress")),
                Lock::Free => {}
                Lock::Unknown(why) => {
                    warnings
                        .push(format!("run {id} may be in progress, because its lock cannot be read: {why}"));
                }
            }
        }
        for (dir, error) in &unopened {
            let error = with_causes(error);
            warnings.push(match lock_of(dir) {
                Lock::Held => {
                    return Usage::by(format!("a run that cannot be read is in progress: {error}"));
                }
                Lock::Free => format!("a run cannot be read, and no process is working on it: {error}"),
                Lock::Unknown(why) => {
                    format!("a run that cannot be read may be in progress: {error}; its lock: {why}")
                }
            });
        }
        Usage { by: None, warnings }
    }

    fn tested(&self, library: &Library) -> Result<Found, String> {
        let root = library.root();
        let failed = |error: std::io::Error| format!("cannot list {}: {error}", root.display());
        let entries = library.entries().map_err(failed)?;
        let mut targets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut current = BTreeMap::new();
        let mut unopened = Vec::new();
        for (name, dir) in entries {
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let [file, journal] = library.files_of(&dir);
            let stamp = Stamp::of(&file);
            let known = targets.remove(&dir).filter(|(at, _)| stamp.is_some() && *at == stamp);
            let tested = known.map_or_else(
                || Run::open(&dir).map(|run| Arc::new(Tested { id: run.file.id, target: run.file.target })),
                |(_, tested)| Ok(tested),
            );
            match tested {
                Ok(tested) => drop(current.insert(dir, (stamp, tested))),
                Err(error) if may_be_a_run(&name, &journal) => unopened.push((dir, error)),
                Err(_) => {}
            }
        }
        *targets = current;
        let tested = targets.iter().map(|(dir, (_, tested))| (dir.clone(), Arc::clone(tested)));
        Ok(Found { tested: tested.collect(), unopened })
    }
}

/// Returns whether an entry that cannot be opened as a run may nevertheless be one, judging by its name and its
/// journal or archive. Other entries, such as `lost+found` and files, cannot be runs.
pub fn may_be_a_run(name: &OsStr, journal: &Path) -> bool {
    let is_named = name.to_str().is_some_and(is_run_id);
    let has_no_journal = || match std::fs::symlink_metadata(journal) {
        Ok(_) => false,
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    is_named && !has_no_journal()
}
