//! Which runs use a target. A run that waits for its drive asks this again and again while another run measures, so
//! no journal is read: `run.json` is read once per run, and then only the locks of the runs on this target are checked.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use follow::Stamp;
use launch::{Lock, lock_of};
use record::{Candidate, Library, LibraryError, Run, TargetFacts, is_run_id};
use stdx::text::with_causes;

use super::facts::Shared;

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

/// The part of a run's `run.json` that is needed, with the stamp of the file when it was read.
struct Known {
    place: Candidate,
    stamp: Option<Stamp>,
    id: String,
    target: Arc<TargetFacts>,
}

/// The target of each run, by name.
#[derive(Default)]
pub struct Targets(Mutex<Vec<Known>>);

/// The contents of a library's folder.
struct Found {
    /// Folders and ids of the runs on the target.
    tested: Vec<(PathBuf, String)>,
    /// Folders that may be runs, and why they cannot be opened.
    unopened: Vec<(PathBuf, LibraryError)>,
}

impl Targets {
    /// Returns how the runs in the library use a target. This depends on the locks of the journals, not on
    /// their contents: a folder that cannot be read must not prevent every drive in the host from being tested.
    /// If a process that this server cannot see is working on such a run, it also holds the drive, so another
    /// run refuses the drive.
    pub fn usage(&self, library: &Library, shared: &Shared, is_its: impl Fn(&TargetFacts) -> bool) -> Usage {
        let Found { tested, unopened } = match self.tested(library, shared, is_its) {
            Ok(found) => found,
            Err(why) => return Usage::by(why),
        };
        let mut warnings = Vec::new();
        for (dir, id) in &tested {
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

    fn tested(
        &self,
        library: &Library,
        shared: &Shared,
        is_its: impl Fn(&TargetFacts) -> bool,
    ) -> Result<Found, String> {
        let root = library.root();
        let failed = |error: std::io::Error| format!("cannot list {}: {error}", root.display());
        let candidates = library.candidates().map_err(failed)?;
        let mut targets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Both are sorted by name.
        let mut before = std::mem::take(&mut *targets).into_iter().peekable();
        let mut unopened = Vec::new();
        for place in candidates.into_iter().filter(|place| !place.name.as_encoded_bytes().starts_with(b".")) {
            while before.next_if(|known| known.place < place).is_some() {}
            let stamp = Stamp::of(&place.run_file_in(root));
            let is_current = |known: &Known| stamp.is_some() && known.stamp == stamp;
            if let Some(known) = before.next_if(|known| known.place == place).filter(is_current) {
                targets.push(known);
                continue;
            }
            let dir = place.path_in(root);
            match Run::open(&dir) {
                Ok(Run { file, .. }) => {
                    targets.push(Known { place, stamp, id: file.id, target: shared.target(&file.target) });
                }
                Err(error) if may_be_a_run(&place.name, &place.journal_in(root)) => {
                    unopened.push((dir, error));
                }
                Err(_) => {}
            }
        }
        let its = targets.iter().filter(|known| is_its(&known.target));
        let tested = its.map(|known| (known.place.path_in(root), known.id.clone())).collect();
        Ok(Found { tested, unopened })
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
