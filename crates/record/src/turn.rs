//! Locks that allow only one process at a time to work on a run or a target. The kernel releases a lock when the
//! process that holds it ends, for whatever reason.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stdx::files::{Folder, WriteError, create_in, look_in, open_to_append_in, remove_in, try_lock};

use crate::Digest;

const FOLDER: &str = ".jobs";

/// Longer than any id of a run.
const MOST_NOTE_BYTES: u64 = 1 << 10;

/// Why a lock cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// Another process holds it.
    #[error("another process is working on {what}; nothing was done; start the job again later")]
    Busy {
        /// The run or target.
        what: String,
    },
    /// A system call failed.
    #[error("cannot lock a file in {}", path.display())]
    Io {
        /// The folder that contains the locks.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
}

/// A lock that is held until this value is dropped.
#[derive(Debug)]
pub struct Turn {
    folder: File,
    name: OsString,
    _lock: File,
}

impl Turn {
    /// Ends a completed job, and removes its lock file.
    pub fn end(self) {
        // A leftover lock file is harmless.
        drop(remove_in(&self.folder, &self.name));
    }
}

/// Takes the lock for the run `id` in a library.
///
/// # Errors
/// Returns an error if the lock is held by another process, or cannot be taken.
pub fn turn_of_run(library: &Path, id: &str) -> Result<Turn, TurnError> {
    take(library, id.into(), format!("run {id}"))
}

/// Takes the lock for the submission of jobs that use a library.
///
/// # Errors
/// Same as [`turn_of_run`].
pub fn turn_of_submission(library: &Path) -> Result<Turn, TurnError> {
    // No id of a run begins with a dot.
    take(library, ".submission".into(), "the submission of jobs".into())
}

/// Takes the lock for a target on this host.
///
/// # Errors
/// Same as [`turn_of_run`].
pub fn turn_of_target(state: &Path, target: &str) -> Result<Turn, TurnError> {
    // A path cannot be used as a file name.
    let name = format!("target-{}", Digest::of(target.as_bytes()));
    take(state, name.into(), format!("the target {target}"))
}

/// Returns what was noted last about `subject`, such as who has written to a target on this host; `None` if nothing was
/// noted.
#[must_use]
pub fn noted(root: &Path, subject: &str) -> Option<String> {
    let dir = root.join(FOLDER);
    // Looking must not create the folder.
    let folder = dir.is_dir().then(|| Folder::make(&dir, false).ok())??;
    let text = folder.beginning(&note_file(subject), MOST_NOTE_BYTES).ok()?;
    String::from_utf8(text).ok().filter(|text| !text.is_empty())
}

/// Notes `text` about `subject` next to the locks in `root`, in place of what was noted before.
///
/// # Errors
/// Returns an error if the note cannot be written.
pub fn note(root: &Path, subject: &str, text: &str) -> Result<(), WriteError> {
    Folder::make(&root.join(FOLDER), false)?.replace(&note_file(subject), text.as_bytes())
}

fn note_file(subject: &str) -> OsString {
    format!("note-{}", Digest::of(subject.as_bytes())).into()
}

fn take(root: &Path, name: OsString, what: String) -> Result<Turn, TurnError> {
    let dir = root.join(FOLDER);
    let failed = |source: std::io::Error| TurnError::Io { path: dir.clone(), source };
    // The library's creator may have made this a link to another folder.
    let folder = Folder::make(&dir, false).map_err(|error| match error {
        WriteError::System { source, .. } => failed(source),
        other => failed(std::io::Error::other(other)),
    })?;
    let folder = folder.into_file();
    let lock = attempt(&folder, &name).map_err(failed)?;
    lock.map(|lock| Turn { folder, name, _lock: lock }).ok_or(TurnError::Busy { what })
}

/// Takes the lock if no other process holds it.
fn attempt(folder: &File, name: &OsStr) -> std::io::Result<Option<File>> {
    let file = match create_in(folder, name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists =>
        // Some network file systems lock only files that are open for writing.
        {
            match open_to_append_in(folder, name) {
                Ok(file) => file,
                Err(error) => {
                    let error = std::io::Error::from(error);
                    // A job that has just ended has removed the file.
                    return if error.kind() == ErrorKind::NotFound { Ok(None) } else { Err(error) };
                }
            }
        }
        created => created?,
    };
    if !try_lock(&file)? {
        return Ok(None);
    }
    // The file may have been removed and replaced before this process locked it.
    let is_current = look_in(folder, name).is_ok_and(|(_, identity)| {
        use std::os::unix::fs::MetadataExt as _;
        file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == identity)
    });
    Ok(is_current.then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_at_a_time_and_can_be_taken_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let take = || turn_of_run(dir.path(), "a");
        let first = take().expect("free");
        assert!(matches!(take(), Err(TurnError::Busy { .. })));
        assert!(turn_of_run(dir.path(), "b").is_ok(), "another run");
        first.end();
        let second = take().expect("the first one ended");
        drop(second);
        assert!(take().is_ok());
    }

    #[test]
    fn no_run_has_the_lock_of_a_submission() {
        let dir = tempfile::tempdir().expect("a folder");
        let submission = turn_of_submission(dir.path()).expect("free");
        assert!(matches!(turn_of_submission(dir.path()), Err(TurnError::Busy { .. })));
        assert!(turn_of_run(dir.path(), "fleet-submit").is_ok(), "a job may have this name");
        let name = submission.name.to_str().expect("text");
        assert!(!crate::is_run_id(name), "{name}");
        submission.end();
        assert!(turn_of_submission(dir.path()).is_ok());
    }

    #[test]
    fn the_latest_note_about_a_subject_counts() {
        let dir = tempfile::tempdir().expect("a folder");
        let noted = |subject| noted(dir.path(), subject);
        assert_eq!(noted("S1"), None);
        assert!(!dir.path().join(FOLDER).exists(), "nothing is created");
        for run in ["a", "b"] {
            note(dir.path(), "S1", run).expect("noted");
            assert_eq!((noted("S1").as_deref(), noted("S2")), (Some(run), None));
        }
    }

    #[test]
    fn a_link_in_place_of_the_folder_is_not_followed() {
        let (library, other) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        std::os::unix::fs::symlink(other.path(), library.path().join(FOLDER)).expect("a link");
        assert!(matches!(turn_of_run(library.path(), "a"), Err(TurnError::Io { .. })));
        assert_eq!(std::fs::read_dir(other.path()).expect("a folder").count(), 0);
    }
}
