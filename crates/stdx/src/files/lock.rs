//! File locks that show whether a process is still working on a file.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for a lock: far longer than the time between fork and exec on a busy host.
const WITHIN: Duration = Duration::from_millis(250);
const EVERY: Duration = Duration::from_millis(5);
/// How long [`is_locked`] reports a lock as held without waiting again, after it has waited once. Programs that watch
/// many runs query each lock at least once a second.
const REMEMBERED: Duration = Duration::from_secs(10);
/// The locks that this process knows to be held.
static HELD: Mutex<Held> = Mutex::new(Held(BTreeMap::new()));

/// Takes an exclusive lock (flock) on `file`; returns false if another process holds a lock.
///
/// If a process is killed while starting another program, the child keeps the process's locks until the exec.
/// Therefore, a lock counts as held only if it cannot be taken for 250 ms.
///
/// # Errors
/// Returns an error if the file system does not support locks, or the system call fails.
pub fn try_lock(file: &File) -> io::Result<bool> {
    try_lock_each(&[file]).swap_remove(0)
}

/// Same as [`try_lock`] for several files, but waits only once for all of them.
#[must_use]
pub fn try_lock_each(files: &[&File]) -> Vec<io::Result<bool>> {
    let deadline = Instant::now() + WITHIN;
    let mut results: Vec<Option<io::Result<bool>>> = files.iter().map(|_| None).collect();
    loop {
        let is_late = Instant::now() >= deadline;
        for (file, result) in files.iter().zip(&mut results).filter(|(_, result)| result.is_none()) {
            *result = match file.try_lock() {
                Ok(()) => Some(Ok(true)),
                Err(TryLockError::Error(error)) => Some(Err(error)),
                Err(TryLockError::WouldBlock) => is_late.then_some(Ok(false)),
            };
        }
        if results.iter().all(Option::is_some) {
            return results.into_iter().flatten().collect();
        }
        std::thread::sleep(EVERY);
    }
}

/// Returns whether another process holds a lock on `file`, without keeping a lock. A lock counts as held
/// after the same delay as in [`try_lock`], because this function itself briefly holds a shared lock. If this process
/// found the lock to be held in the last 10 s, there is no delay.
///
/// # Errors
/// Returns an error if the file system does not support locks, or a system call fails.
pub fn is_locked(file: &File) -> io::Result<bool> {
    let deadline = Instant::now() + WITHIN;
    loop {
        match file.try_lock_shared() {
            Ok(()) => return file.unlock().map(|()| false),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        let metadata = file.metadata()?;
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_confirmed((metadata.dev(), metadata.ino()), Instant::now(), deadline) {
            return Ok(true);
        }
        drop(held);
        std::thread::sleep(EVERY);
    }
}

/// Returns whether another process holds a lock on `file` at this moment, without keeping a lock and without waiting.
///
/// For observers that ask again: if the holder has just been killed while starting another program, the lock is held until
/// the exec of the child, so the answer can be outdated for a moment. [`is_locked`] waits for that.
///
/// # Errors
/// Returns an error if the file system does not support locks, or a system call fails.
pub fn is_locked_now(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Locks that were held, by device and inode number of their files, and when that was last found.
struct Held(BTreeMap<(u64, u64), Instant>);

impl Held {
    /// Returns whether a lock that cannot be taken `now` counts as held: it does if the deadline of the query has
    /// passed or if a recent query found the lock held.
    fn is_confirmed(&mut self, file: (u64, u64), now: Instant, deadline: Instant) -> bool {
        self.0.retain(|_, found| now.saturating_duration_since(*found) < REMEMBERED);
        let is_confirmed = now >= deadline || self.0.contains_key(&file);
        if is_confirmed {
            self.0.insert(file, now);
        }
        is_confirmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lock_that_is_soon_released_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let open = || File::options().create(true).append(true).open(&path).expect("a file");
        let (holder, other) = (open(), open());
        assert!(try_lock(&holder).expect("locks"));
        assert!(!try_lock(&other).expect("locks"), "it is held");
        let released = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            drop(holder);
        });
        // On a busy host, the other thread may release the lock late.
        while !try_lock(&other).expect("locks") {}
        released.join().expect("a thread");
    }

    #[test]
    fn querying_a_lock_does_not_take_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let open = || File::options().create(true).append(true).read(true).open(&path).expect("a file");
        for query in [is_locked, is_locked_now] {
            let (holder, other) = (open(), open());
            assert!(!query(&other).expect("locks"));
            assert!(try_lock(&holder).expect("locks"), "the query must not keep the lock");
            assert!(query(&other).expect("locks"));
            drop(holder);
            assert!(!query(&other).expect("locks"));
        }
    }

    #[test]
    fn a_lock_that_was_waited_for_is_not_waited_for_again_soon() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut held = Held(BTreeMap::new());
        assert!(!held.is_confirmed((1, 2), at(0), at(250)), "nothing is known");
        assert!(held.is_confirmed((1, 2), at(250), at(250)));
        assert!(held.is_confirmed((1, 2), at(9_000), at(9_250)), "known");
        assert!(!held.is_confirmed((1, 3), at(9_000), at(9_250)), "another file");
        assert!(held.is_confirmed((1, 2), at(18_000), at(18_250)), "found again meanwhile");
        assert!(!held.is_confirmed((1, 2), at(28_000), at(28_250)), "long ago");
        assert_eq!(held.0.len(), 0, "nothing is kept for long");
    }
}
