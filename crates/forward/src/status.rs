//! What a service has sent so far, for programs that monitor it.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use record::Library;
use transfer::Sent;

/// Length and modification time of a journal; both change when records are appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    pub modified: (i64, i64),
    pub bytes: u64,
}

impl Stamp {
    fn of(journal: &Path) -> Option<Self> {
        match journal.symlink_metadata() {
            Ok(found) => Some(Self { modified: (found.mtime(), found.mtime_nsec()), bytes: found.len() }),
            // The attempt to read the run will fail with an error that says which user may not read which file.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                Some(Self { modified: (0, 0), bytes: 0 })
            }
            Err(_) => None,
        }
    }
}

/// Returns each run in a library with the stamp of its journal.
pub fn stamps(library: &Library) -> std::io::Result<Vec<(String, Stamp)>> {
    let stamped = library.entries()?.into_iter().filter_map(|(name, path)| {
        let id = name.into_string().ok().filter(|name| record::is_run_id(name))?;
        let [_, journal] = library.files_of(&path);
        Some((id, Stamp::of(&journal)?))
    });
    Ok(stamped.collect())
}

/// How far a service is behind its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Bytes of journals that the server has not confirmed to this process.
    pub behind_bytes: u64,
    /// Runs that could not be sent at the last attempt although the server was reached.
    pub unsent_runs: u64,
    /// Time since the server last confirmed new bytes, or a check of the library last ended without a failure to reach
    /// the server; since the start of the process if neither has happened. A check with nothing to send does not
    /// contact the server.
    pub success_age: Duration,
    /// Attempts that have failed since the start of the process.
    pub failures: u64,
}

/// The progress of a service, which another thread can read at any time.
#[derive(Debug)]
pub struct Status {
    library: Library,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
struct Progress {
    /// How much of each run the server has confirmed.
    at_server: BTreeMap<String, AtServer>,
    unsent: BTreeSet<String>,
    last_success: Instant,
    failures: u64,
}

#[derive(Debug, Clone, Copy)]
struct AtServer {
    bytes: u64,
    /// The journal for which this is everything. The length of an archive is not that of its journal.
    whole: Option<Stamp>,
}

impl Status {
    /// Nothing of the library has been sent yet.
    #[must_use]
    pub fn of(library: Library) -> Self {
        let progress = Progress {
            at_server: BTreeMap::new(),
            unsent: BTreeSet::new(),
            last_success: Instant::now(),
            failures: 0,
        };
        Self { library, progress: Mutex::new(progress) }
    }

    /// Compares the library with what the server has confirmed.
    ///
    /// # Errors
    /// Returns an error if the library cannot be listed.
    pub fn reading(&self) -> std::io::Result<Reading> {
        let stamps = stamps(&self.library)?;
        let progress = self.progress();
        let behind = |(id, stamp): &(String, Stamp)| match progress.at_server.get(id) {
            Some(AtServer { whole: Some(whole), .. }) if whole == stamp => 0,
            Some(AtServer { bytes, .. }) => stamp.bytes.saturating_sub(*bytes),
            None => stamp.bytes,
        };
        Ok(Reading {
            behind_bytes: stamps.iter().map(behind).sum(),
            unsent_runs: stamps.iter().filter(|(id, _)| progress.unsent.contains(id)).count() as u64,
            success_age: progress.last_success.elapsed(),
            failures: progress.failures,
        })
    }

    /// Records that the server has this many bytes of a run. A check of the library that sends for hours succeeds with
    /// each piece, but a server that only repeats what it has, and accepts nothing, does not count as reached.
    pub(crate) fn received(&self, id: &str, bytes: u64) {
        let mut progress = self.progress();
        let before = progress.at_server.insert(id.into(), AtServer { bytes, whole: None });
        if bytes > before.map_or(0, |before| before.bytes) {
            progress.last_success = Instant::now();
        }
    }

    /// Records the outcome of sending a run.
    pub(crate) fn sent(&self, id: &str, sent: &Sent, stamp: Stamp) {
        let whole = Some(stamp).filter(|_| sent.has_all);
        let mut progress = self.progress();
        progress.at_server.insert(id.into(), AtServer { bytes: sent.bytes, whole });
        progress.unsent.remove(id);
    }

    /// Records that a run is not sent from here, because another host has sent it to this one.
    pub(crate) fn foreign(&self, id: &str) {
        let mut progress = self.progress();
        progress.at_server.insert(id.into(), AtServer { bytes: u64::MAX, whole: None });
        progress.unsent.remove(id);
    }

    /// Records that a run could not be sent although the server was reached.
    pub(crate) fn unsent(&self, id: &str) {
        let mut progress = self.progress();
        progress.unsent.insert(id.into());
        progress.failures += 1;
    }

    /// Records that a check of the library has ended, and whether the server was reached if that was necessary.
    pub(crate) fn checked(&self, was_reached: bool) {
        let mut progress = self.progress();
        match was_reached {
            true => progress.last_success = Instant::now(),
            false => progress.failures += 1,
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_bytes_show_that_a_server_is_reached_before_a_check_ends() {
        let dir = tempfile::tempdir().expect("a folder");
        let status = Status::of(Library::at(dir.path()));
        let long_ago = Instant::now().checked_sub(Duration::from_secs(3600)).expect("a time");
        let is_new = |record: &dyn Fn()| {
            status.progress().last_success = long_ago;
            record();
            status.progress().last_success != long_ago
        };
        assert!(is_new(&|| status.received("a", 60)));
        assert!(!is_new(&|| status.received("a", 60)), "a server whose disk is full accepts nothing more");
        assert!(is_new(&|| status.received("a", 61)));
        assert!(!is_new(&|| status.received("c", 0)), "it has nothing of the run");
        assert!(!is_new(&|| status.foreign("b")), "nothing is sent");
        assert!(!is_new(&|| status.unsent("a")) && !is_new(&|| status.checked(false)));
        assert!(is_new(&|| status.checked(true)));
    }

    #[test]
    fn a_service_is_behind_by_what_the_server_has_not_confirmed() {
        let dir = tempfile::tempdir().expect("a folder");
        let library = Library::at(dir.path());
        let write = |id: &str, bytes: usize| {
            let folder = dir.path().join(id);
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join("journal"), vec![b'x'; bytes]).expect("written");
        };
        let status = Status::of(library.clone());
        let behind = || status.reading().expect("a library").behind_bytes;
        assert_eq!(behind(), 0);
        write("a", 100);
        write("b", 10);
        write("c", 1);
        assert_eq!(behind(), 111);
        status.received("a", 60);
        assert_eq!(behind(), 51);
        let stamp_of =
            |id: &str| stamps(&library).expect("a library").into_iter().find(|(name, _)| name == id);
        let (_, stamp) = stamp_of("a").expect("a run");
        // As in an archive, the journal is longer than the file.
        let sent = Sent { new_bytes: 40, bytes: 90, was_in_progress: false, has_all: true };
        status.sent("a", &sent, stamp);
        assert_eq!(behind(), 11);
        write("a", 120);
        assert_eq!(behind(), 30 + 11);
        status.foreign("b");
        write("b", 10_000);
        assert_eq!(behind(), 30 + 1);

        status.unsent("c");
        status.checked(false);
        let reading = status.reading().expect("a library");
        assert_eq!((reading.unsent_runs, reading.failures), (1, 2));
        std::fs::remove_dir_all(dir.path().join("c")).expect("removed");
        let reading = status.reading().expect("a library");
        assert_eq!((reading.unsent_runs, reading.behind_bytes), (0, 30));
    }
}
