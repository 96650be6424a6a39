//! A host with settings and a disk, and processes that may be killed at any call.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use record::storage::simulated::{Disk, Simulated};

/// Settings of the host and its devices, with a disk for their restore records.
pub(super) struct World {
    pub(super) storage: Simulated,
    pub(super) settings: Mutex<BTreeMap<PathBuf, String>>,
    /// Changes to settings, in order. Each change is also recorded in the disk's log.
    pub(super) changes: Mutex<Vec<(PathBuf, String)>>,
    pub(super) boot: u64,
    /// Whether `sync_all` of a file takes effect; tests clear it to prove that this is detected.
    pub(super) syncs: bool,
}

impl World {
    pub(super) fn on(disk: Disk, settings: BTreeMap<PathBuf, String>, boot: u64, syncs: bool) -> Arc<Self> {
        let storage = Simulated::on(disk, jiff::Timestamp::UNIX_EPOCH, Vec::new());
        Arc::new(Self { storage, settings: Mutex::new(settings), changes: Mutex::default(), boot, syncs })
    }

    pub(super) fn settings(&self) -> BTreeMap<PathBuf, String> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, path: &Path, value: &str) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        self.storage.mark(changes.len());
        changes.push((path.into(), value.into()));
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).insert(path.into(), value.into());
    }
}

/// A process in the world. After the process has been killed, its code still runs but has no effect.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) world: Arc<World>,
    pub(super) calls: Arc<AtomicU64>,
    pub(super) dies_at: u64,
}

impl Process {
    pub(super) fn in_world(world: &Arc<World>, dies_at: u64) -> Self {
        Self { world: Arc::clone(world), calls: Arc::default(), dies_at }
    }

    pub(super) fn call(&self) -> io::Result<&World> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.dies_at {
            Ok(&self.world)
        } else {
            Err(io::Error::other("killed"))
        }
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a process that dies at call {}", self.dies_at)
    }
}
