//! A disk in memory, in virtual time. A power cut may lose, tear or reorder all unsynced changes.
//!
//! Every change is recorded as [`Logged`], so that the disk's state after each change can be rebuilt without
//! running the program again. The same operations, faults and seed produce the same bytes.

mod disk;
mod survivors;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

pub use disk::{Disk, Node, Op, SyncOutcome};
pub use survivors::Crash;

use stdx::files::ReadError;

use super::interface::{Extent, Found, FoundKind, Storage, Stored};

/// Device number of all files on a simulated disk.
const VOLUME: u64 = 1;

/// A fault and the storage call in which it occurs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fault {
    /// Number of the call, counted from 0.
    pub call: u64,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// ENOSPC from this call on, for every call that allocates space.
    NoSpace,
    /// EDQUOT from this call on, for every call that allocates space.
    Quota,
    /// EROFS from this call on, for every change.
    ReadOnly,
    /// EIO, once. A sync fails and loses the data that it should have written; the next sync succeeds.
    Broken,
    /// EIO from this call on, for every call.
    Dead,
    /// The call takes this long to return.
    Slow {
        /// Length in ns.
        ns: u64,
    },
    /// Ctrl-C during the call.
    Interrupt,
}

impl FaultKind {
    fn lasts(self) -> bool {
        matches!(self, Self::NoSpace | Self::Quota | Self::ReadOnly | Self::Dead)
    }

    fn error(self, call: Call) -> Option<io::Error> {
        let fails = match self {
            Self::NoSpace | Self::Quota => matches!(call, Call::Create | Call::Append | Call::Sync),
            Self::ReadOnly => !matches!(call, Call::Read | Call::Sync),
            Self::Broken | Self::Dead => true,
            Self::Slow { .. } | Self::Interrupt => false,
        };
        let number = match self {
            Self::NoSpace => 28,
            Self::Quota => 122,
            Self::ReadOnly => 30,
            _ => 5,
        };
        fails.then(|| io::Error::from_raw_os_error(number))
    }
}

/// Kinds of calls, which determine which faults apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Read,
    Create,
    Append,
    Change,
    Sync,
}

/// One log entry.
#[derive(Debug, Clone)]
pub enum Logged {
    /// An operation that changed or synced the disk.
    Op(Op),
    /// A log entry for some other action of the process, such as the display of an event.
    Mark(usize),
}

/// A process with its simulated disk.
#[derive(Debug, Clone)]
pub struct Simulated {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    disk: Disk,
    log: Vec<Logged>,
    /// Locked nodes, each with the number of the open file that holds the lock.
    locks: Vec<(Node, u64)>,
    opened: u64,
    calls: u64,
    faults: Vec<Fault>,
    now: jiff::Timestamp,
    interrupted: Arc<AtomicBool>,
}

impl Simulated {
    /// Creates a process that starts with `disk` at time `now` and is subject to `faults`.
    #[must_use]
    pub fn on(disk: Disk, now: jiff::Timestamp, faults: Vec<Fault>) -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        let (log, locks) = (Vec::new(), Vec::new());
        let inner = Inner { disk, log, locks, opened: 0, calls: 0, faults, now, interrupted };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Returns the flag that is set by [`FaultKind::Interrupt`].
    #[must_use]
    pub fn interrupted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.inner().interrupted)
    }

    /// Returns a copy of the disk in its current state.
    #[must_use]
    pub fn disk(&self) -> Disk {
        self.inner().disk.clone()
    }

    /// Returns the number of calls so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.inner().calls
    }

    /// Appends a [`Logged::Mark`] to the log.
    pub fn mark(&self, mark: usize) {
        self.inner().log.push(Logged::Mark(mark));
    }

    /// Returns a copy of the log.
    #[must_use]
    pub fn log(&self) -> Vec<Logged> {
        self.inner().log.clone()
    }

    /// Returns the bytes of the latest write and the file offset at which it ended.
    #[must_use]
    pub fn last_append(&self) -> Option<(Arc<[u8]>, usize)> {
        self.inner().log.iter().rev().find_map(|logged| match logged {
            Logged::Op(Op::Write { bytes, at, .. }) => Some((Arc::clone(bytes), at + bytes.len())),
            _ => None,
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn handle(&self, node: Node) -> Box<dyn Stored> {
        let mut inner = self.inner();
        inner.opened += 1;
        Box::new(Open { process: self.clone(), node, number: inner.opened })
    }

    fn create_node(&self, path: &Path, kind: FoundKind) -> io::Result<Node> {
        let mut inner = self.inner();
        inner.call(Call::Create)?;
        let (folder, name) = inner.disk.place(path)?;
        inner.create_in(folder, name, kind)
    }

    fn open_node(&self, path: &Path, kind: FoundKind) -> io::Result<Box<dyn Stored>> {
        self.open_found(kind, |inner| inner.disk.find(path))
    }

    fn open_found(
        &self,
        kind: FoundKind,
        find: impl FnOnce(&Inner) -> io::Result<Node>,
    ) -> io::Result<Box<dyn Stored>> {
        let (node, found) = {
            let mut inner = self.inner();
            inner.call(Call::Read)?;
            let node = find(&inner)?;
            (node, inner.disk.kind(node))
        };
        match (kind, found) {
            (FoundKind::Folder, FoundKind::File) => Err(io::ErrorKind::NotADirectory.into()),
            (FoundKind::File, FoundKind::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            _ => Ok(self.handle(node)),
        }
    }

    fn remove(&self, path: &Path, kind: FoundKind) -> io::Result<()> {
        let mut inner = self.inner();
        inner.call(Call::Change)?;
        let (folder, name) = inner.disk.place(path)?;
        let node = inner.disk.entry(folder, &name).ok_or(io::ErrorKind::NotFound)?;
        match (kind, inner.disk.kind(node)) {
            (FoundKind::File, FoundKind::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            (FoundKind::Folder, FoundKind::File) => Err(io::ErrorKind::NotADirectory.into()),
            _ if !inner.disk.names(node).is_empty() => Err(io::ErrorKind::DirectoryNotEmpty.into()),
            _ => {
                inner.apply(Op::Remove { folder, name });
                Ok(())
            }
        }
    }
}

impl Inner {
    fn apply(&mut self, op: Op) {
        self.disk.apply(&op);
        self.log.push(Logged::Op(op));
    }

    fn create_in(&mut self, folder: Node, name: String, kind: FoundKind) -> io::Result<Node> {
        if self.disk.entry(folder, &name).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let node = self.disk.free_node();
        self.apply(Op::Create { folder, name, node, kind });
        Ok(node)
    }

    /// Counts a call and applies the faults that are due.
    fn call(&mut self, call: Call) -> io::Result<()> {
        let now = self.calls;
        self.calls += 1;
        let mut failure = None;
        for fault in &self.faults {
            if fault.call != now && !(fault.kind.lasts() && fault.call < now) {
                continue;
            }
            match fault.kind {
                FaultKind::Slow { ns } => {
                    self.now = self
                        .now
                        .saturating_add(jiff::SignedDuration::from_nanos(
                            i64::try_from(ns).unwrap_or(i64::MAX),
                        ))
                        .unwrap_or(self.now);
                }
                FaultKind::Interrupt => self.interrupted.store(true, Ordering::Relaxed),
                kind => failure = failure.or_else(|| kind.error(call)),
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

impl Storage for Simulated {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        let node = self.create_node(path, FoundKind::File)?;
        Ok(self.handle(node))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        self.open_node(path, FoundKind::File)
    }

    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        self.open_node(path, FoundKind::File)
    }

    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        self.open_node(path, FoundKind::Folder)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.create_node(path, FoundKind::Folder).map(|_| ())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut inner = self.inner();
        inner.call(Call::Change)?;
        let (folder, old) = inner.disk.place(from)?;
        let (other, new) = inner.disk.place(to)?;
        if folder != other {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        let node = inner.disk.entry(folder, &old).ok_or(io::ErrorKind::NotFound)?;
        if let Some(there) = inner.disk.entry(folder, &new)
            && (inner.disk.kind(there) != inner.disk.kind(node) || !inner.disk.names(there).is_empty())
        {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        inner.apply(Op::Rename { folder, from: old, to: new, node });
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.remove(path, FoundKind::File)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.remove(path, FoundKind::Folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let mut inner = self.inner();
        inner.call(Call::Read)?;
        let node = inner.disk.find(folder)?;
        match inner.disk.kind(node) {
            FoundKind::Folder => Ok(inner.disk.names(node).into_iter().map(OsString::from).collect()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn look(&self, path: &Path) -> io::Result<Found> {
        let mut inner = self.inner();
        inner.call(Call::Read)?;
        let node = inner.disk.find(path)?;
        Ok(Found { kind: inner.disk.kind(node), identity: (VOLUME, node.0) })
    }

    fn now(&self) -> jiff::Timestamp {
        self.inner().now
    }
}

/// An open file or folder.
#[derive(Debug)]
struct Open {
    process: Simulated,
    node: Node,
    number: u64,
}

impl Stored for Open {
    fn read(&mut self, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let mut inner = self.process.inner();
        inner.call(Call::Read)?;
        let content = inner.disk.content(self.node);
        if content.len() as u64 > limit_bytes {
            Err(ReadError::TooLarge { limit_bytes }.into())
        } else {
            Ok(content.to_vec())
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.process.inner();
        let failure = inner.call(Call::Append).err();
        // A failing write usually writes part of its data. How much is written depends only on the length of
        // the data, so that runs are reproducible.
        let done = match &failure {
            Some(error) if error.raw_os_error() == Some(30) => 0,
            Some(_) => (bytes.len() * (bytes.len() % 7)) / 7,
            None => bytes.len(),
        };
        if done > 0 {
            let at = inner.disk.content(self.node).len();
            inner.apply(Op::Write { node: self.node, at, bytes: bytes[..done].into() });
        }
        failure.map_or(Ok(()), Err)
    }

    fn rewrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.process.inner();
        inner.call(Call::Append)?;
        inner.apply(Op::Write { node: self.node, at: at as usize, bytes: bytes.into() });
        Ok(())
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        let mut inner = self.process.inner();
        inner.call(Call::Change)?;
        inner.apply(Op::Length { node: self.node, bytes: bytes as usize });
        Ok(())
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.sync_all()
    }

    fn sync_all(&mut self) -> io::Result<()> {
        let mut inner = self.process.inner();
        let failure = inner.call(Call::Sync).err();
        let outcome = if failure.is_some() { SyncOutcome::Lost } else { SyncOutcome::Synced };
        inner.apply(Op::Sync { node: self.node, outcome });
        failure.map_or(Ok(()), Err)
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut inner = self.process.inner();
        inner.call(Call::Read)?;
        match inner.locks.iter().find(|(node, _)| *node == self.node) {
            Some((_, owner)) => Ok(*owner == self.number),
            None => {
                inner.locks.push((self.node, self.number));
                Ok(true)
            }
        }
    }

    fn is_locked(&self) -> io::Result<bool> {
        let mut inner = self.process.inner();
        inner.call(Call::Read)?;
        Ok(inner.locks.iter().any(|(node, owner)| *node == self.node && *owner != self.number))
    }

    fn found(&self) -> io::Result<Found> {
        let mut inner = self.process.inner();
        inner.call(Call::Read)?;
        Ok(Found { kind: inner.disk.kind(self.node), identity: (VOLUME, self.node.0) })
    }

    fn extent(&self) -> io::Result<Extent> {
        let mut inner = self.process.inner();
        inner.call(Call::Read)?;
        Ok(Extent { bytes: inner.disk.content(self.node).len() as u64, modified: None })
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let mut inner = self.process.inner();
        inner.call(Call::Read)?;
        Ok(inner.disk.names(self.node).into_iter().map(OsString::from).collect())
    }

    fn look(&self, name: &OsStr) -> io::Result<Found> {
        let mut inner = self.process.inner();
        inner.call(Call::Read)?;
        let node = Self::node_of(&inner, self.node, name)?;
        Ok(Found { kind: inner.disk.kind(node), identity: (VOLUME, node.0) })
    }

    fn create_file(&mut self, name: &OsStr) -> io::Result<Box<dyn Stored>> {
        let node = {
            let mut inner = self.process.inner();
            inner.call(Call::Create)?;
            inner.create_in(self.node, name.to_string_lossy().into_owned(), FoundKind::File)?
        };
        Ok(self.process.handle(node))
    }

    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Stored>> {
        self.process.open_found(FoundKind::File, |inner| Self::node_of(inner, self.node, name))
    }

    fn remove_file(&mut self, name: &OsStr) -> io::Result<()> {
        let mut inner = self.process.inner();
        inner.call(Call::Change)?;
        let node = Self::node_of(&inner, self.node, name)?;
        match inner.disk.kind(node) {
            FoundKind::File => {
                let name = name.to_string_lossy().into_owned();
                inner.apply(Op::Remove { folder: self.node, name });
                Ok(())
            }
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }
}

impl Open {
    fn node_of(inner: &Inner, folder: Node, name: &OsStr) -> io::Result<Node> {
        inner.disk.entry(folder, &name.to_string_lossy()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let number = self.number;
        self.process.inner().locks.retain(|(_, owner)| *owner != number);
    }
}
