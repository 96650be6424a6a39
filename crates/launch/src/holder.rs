//! Finds the process that is working on a run: the one that holds the lock on the run's journal.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use stdx::files::{Links, is_locked, open, read_text};

/// Maximum size of `/proc/locks`.
const MOST_LOCKS_BYTES: u64 = 16 << 20;

/// Maximum size of `/proc/PID/stat`.
const MOST_STAT_BYTES: u64 = 16 << 10;
/// Number of the field in `/proc/PID/stat` that contains the start time, counted from 1.
const STARTED_FIELD: usize = 22;

/// The state of a journal's lock.
#[derive(Debug)]
pub enum Lock {
    /// A process holds it.
    Held,
    /// No process holds it, or there is no journal.
    Free,
    /// It cannot be determined whether a process holds the lock, for this reason.
    Unknown(io::Error),
}

/// Returns the state of the lock that a process working on the run in `dir` would hold. The run need not be
/// readable.
#[must_use]
pub fn lock_of(dir: &Path) -> Lock {
    let journal = dir.join("journal");
    match open(&journal, Links::Refused).map_err(io::Error::from).and_then(|file| is_locked(&file)) {
        Ok(true) => Lock::Held,
        Ok(false) => Lock::Free,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Lock::Free,
        // The kernel also lists locks on files that this process may not open.
        Err(_) if is_listed(&journal) => Lock::Held,
        Err(error) => Lock::Unknown(error),
    }
}

/// Returns whether the kernel lists an exclusive lock on a file with the inode number of `path`.
fn is_listed(path: &Path) -> bool {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    found.is_some_and(|found| locks().is_some_and(|locks| !writers(&locks, found.ino()).is_empty()))
}

fn locks() -> Option<String> {
    read_text(Path::new("/proc/locks"), Links::Refused, MOST_LOCKS_BYTES).ok()
}

/// Returns the process that holds an exclusive lock on `journal`; `None` if there is none, or if the current
/// process may not inspect it.
#[must_use]
pub fn holder(journal: &Path) -> Option<i32> {
    let journal = journal.canonicalize().ok()?;
    let inode = fs::metadata(&journal).ok()?.ino();
    let locks = locks()?;
    // On some file systems, a lock's device number differs from the file's, so also check the process's open
    // files.
    writers(&locks, inode).into_iter().find(|pid| has_open(*pid, &journal))
}

/// A process, distinguished from later ones with the same PID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// The PID.
    pub pid: i32,
    /// Start of the process, in clock ticks since the host was started.
    pub started_ticks: u64,
}

/// Returns the process that is working on a run with this journal; `None` if there is none or if it is not certain
/// which one it is. Unlike [`holder`], it also finds processes of other users, whose open files cannot be listed.
#[must_use]
pub fn process_of(journal: &Path) -> Option<Process> {
    let pid = holder(journal).or_else(|| {
        let inode = fs::metadata(journal).ok()?.ino();
        let listed = writers(&locks()?, inode);
        // Another file system may have a locked file with this inode number.
        (listed.len() == 1).then(|| listed[0])
    })?;
    let stat = read_text(Path::new(&format!("/proc/{pid}/stat")), Links::Refused, MOST_STAT_BYTES).ok()?;
    Some(Process { pid, started_ticks: started_ticks(&stat)? })
}

/// Returns the start time in `/proc/PID/stat`.
fn started_ticks(stat: &str) -> Option<u64> {
    // The second field is the name of the program in parentheses; it may itself contain spaces and parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(STARTED_FIELD - 3)?.parse().ok()
}

/// Returns the processes that hold an exclusive lock on a file with this inode number.
fn writers(locks: &str, inode: u64) -> Vec<i32> {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`; a line with `->` describes a process waiting for the
        // lock.
        let [_, "FLOCK", _, "WRITE", pid, file, ..] = words[..] else { return None };
        let found = file.rsplit(':').next()?.parse::<u64>().ok()?;
        (found == inode).then(|| pid.parse().ok()).flatten()
    };
    locks.lines().filter_map(of_line).collect()
}

fn has_open(pid: i32, path: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|found| found == path))
}

/// Returns the run in `library` whose journal process `pid` has locked.
pub fn held_by(pid: u32, library: &Path) -> Option<String> {
    let library = library.canonicalize().ok()?;
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let journals = open.flatten().filter_map(|entry| {
        let path = fs::read_link(entry.path()).ok()?;
        let within = path.strip_prefix(&library).ok()?;
        let run = within.parent()?.to_str()?.to_owned();
        // A run still being created has a temporary name.
        let is_run = within.file_name()? == "journal" && !run.contains('/') && !run.starts_with('.');
        is_run.then_some((run, path))
    });
    let mut journals: Vec<_> = journals.collect();
    journals.dedup();
    journals.into_iter().find(|(_, path)| holder(path) == i32::try_from(pid).ok()).map(|(run, _)| run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_held_exclusive_locks_count() {
        let locks = "1: FLOCK  ADVISORY  WRITE 11 08:01:131 0 EOF\n\
                     1: -> FLOCK  ADVISORY  WRITE 12 08:01:131 0 EOF\n\
                     2: FLOCK  ADVISORY  READ 13 08:01:131 0 EOF\n\
                     3: POSIX  ADVISORY  WRITE 14 08:01:131 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 15 08:01:1312 0 EOF\n\
                     nonsense\n";
        assert_eq!(writers(locks, 131), [11]);
    }

    #[test]
    fn the_start_time_is_found_after_any_program_name() {
        let stat = "4711 (a ) (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 990210 20";
        assert_eq!(started_ticks(stat), Some(990_210));
        assert_eq!((started_ticks("4711 (a) S 1"), started_ticks("")), (None, None));
    }

    #[test]
    fn a_lock_is_found_even_if_the_journal_cannot_be_opened() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(matches!(lock_of(dir.path()), Lock::Free), "there is no journal");
        let journal = dir.path().join("journal");
        let file = fs::File::create(&journal).expect("a file");
        assert!(matches!(lock_of(dir.path()), Lock::Free));
        file.lock().expect("a lock");
        assert!(matches!(lock_of(dir.path()), Lock::Held));
        assert!(is_listed(&journal), "as used for a file that cannot be opened");
        fs::rename(&journal, dir.path().join("other")).expect("renamed");
        std::os::unix::fs::symlink("other", &journal).expect("a link");
        assert!(matches!(lock_of(dir.path()), Lock::Unknown(_)), "links are not followed");
    }

    #[test]
    fn this_process_is_found_by_the_lock_of_its_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let run = dir.path().join("run");
        fs::create_dir(&run).expect("a folder");
        let journal = run.join("journal");
        let file = fs::File::create(&journal).expect("a file");
        assert_eq!((holder(&journal), process_of(&journal)), (None, None));
        file.lock().expect("a lock");
        let pid = std::process::id();
        assert_eq!(holder(&journal), i32::try_from(pid).ok());
        let process = process_of(&journal).expect("this process");
        assert_eq!(Some(process.pid), holder(&journal));
        assert_eq!(process_of(&journal), Some(process));
        assert_eq!(held_by(pid, dir.path()).as_deref(), Some("run"));
    }
}
