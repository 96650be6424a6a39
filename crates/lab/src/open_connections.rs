//! Limits the number of open connections. At the limit, a new connection replaces the one that has been unused for
//! longest, so clients that connect and send nothing do not keep others from reaching the server.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Context;
use std::time::Instant;

use futures_util::task::AtomicWaker;
use rustix::process::{Resource, getrlimit};

/// Maximum number of open connections, provided that the process may open enough files.
const MOST: u64 = 512;
/// Connections may use only half of the files that the process may open; the rest is for handshakes, runs and
/// the server's own files.
const SHARE_OF_FILES: u64 = 2;

/// The open connections of a server.
#[derive(Debug)]
pub struct OpenConnections {
    most: usize,
    begun: Instant,
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    next: u64,
    peers: BTreeMap<u64, Arc<Peer>>,
}

#[derive(Debug, Default)]
struct Peer {
    /// Time at which the connection was last used, in ms.
    used: AtomicU64,
    is_closed: AtomicBool,
    /// The task that serves the connection.
    task: AtomicWaker,
}

/// A place among the open connections.
#[derive(Debug)]
pub struct Place {
    of: Arc<OpenConnections>,
    number: u64,
    peer: Arc<Peer>,
}

impl OpenConnections {
    /// Allows as many connections as the process's limit on open files permits.
    pub fn permitted() -> Arc<Self> {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self::at_most(usize::try_from((files / SHARE_OF_FILES).clamp(1, MOST)).unwrap_or(1))
    }

    fn at_most(most: usize) -> Arc<Self> {
        Arc::new(Self { most, begun: Instant::now(), all: Mutex::default() })
    }

    /// Takes a place for a new connection. If none is free, closes the connection that has been unused for
    /// longest.
    pub fn enter(self: &Arc<Self>) -> Place {
        let peer = Arc::new(Peer::default());
        peer.used.store(self.now(), Ordering::Relaxed);
        let mut all = self.all();
        while all.peers.len() >= self.most {
            let used = |(number, peer): &(&u64, &Arc<Peer>)| (peer.used.load(Ordering::Relaxed), **number);
            let Some(number) = all.peers.iter().min_by_key(used).map(|(number, _)| *number) else { break };
            if let Some(closed) = all.peers.remove(&number) {
                closed.is_closed.store(true, Ordering::Release);
                closed.task.wake();
            }
        }
        let number = all.next;
        all.next += 1;
        all.peers.insert(number, Arc::clone(&peer));
        drop(all);
        Place { of: Arc::clone(self), number, peer }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Checks that the connection has not been closed. If it is closed later, the task is woken.
    pub fn check(&self, cx: &Context<'_>) -> io::Result<()> {
        self.peer.task.register(cx.waker());
        match self.peer.is_closed.load(Ordering::Acquire) {
            true => Err(io::ErrorKind::ConnectionAborted.into()),
            false => Ok(()),
        }
    }

    /// Records that the connection was used.
    pub fn used(&self) {
        self.peer.used.store(self.of.now(), Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.of.all().peers.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn the_connection_that_was_unused_for_longest_is_closed() {
        let open = OpenConnections::at_most(2);
        let is_open = |place: &Place| place.check(&Context::from_waker(Waker::noop())).is_ok();
        let (first, second) = (open.enter(), open.enter());
        second.peer.used.store(5, Ordering::Relaxed);
        first.peer.used.store(9, Ordering::Relaxed);
        let third = open.enter();
        assert_eq!([&first, &second, &third].map(is_open), [true, false, true]);
        drop(second);
        drop(third);
        let fourth = open.enter();
        assert_eq!([&first, &fourth].map(is_open), [true, true], "places are returned");
        assert_eq!(open.all().peers.len(), 2);
    }
}
