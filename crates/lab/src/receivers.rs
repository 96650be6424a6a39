//! Receivers for runs from other hosts, one per sender.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use record::Library;
use transfer::{Receiver, TransferError};

/// Records are refused while less space than this is free, so that the server itself can still write.
const LEAST_FREE_BYTES: u64 = 256 << 20;

/// The receivers for all senders. Each remembers which part of its runs is verified.
pub struct Receivers {
    library: Library,
    of_senders: Mutex<BTreeMap<String, Arc<Mutex<Receiver>>>>,
}

impl Receivers {
    pub fn of(library: Library) -> Self {
        Self { library, of_senders: Mutex::default() }
    }

    /// Calls `work` with the receiver for a sender, for one request of the sender at a time, and returns the
    /// result.
    pub fn of_sender<T>(&self, sender: &str, work: impl FnOnce(&mut Receiver) -> T) -> T {
        let receiver = {
            let mut all = self.of_senders.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Mutex::new(Receiver::of_sender(self.library.clone(), sender)));
            Arc::clone(all.entry(sender.to_owned()).or_insert_with(new))
        };
        let mut receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut receiver)
    }

    /// Checks that a run with `more` bytes can be stored.
    pub fn check_space(&self, more: usize) -> Result<(), TransferError> {
        let folder = self.library.root().ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
        let free = rustix::fs::statvfs(folder).map(|found| found.f_bavail.saturating_mul(found.f_frsize));
        match free {
            Ok(free) if free < LEAST_FREE_BYTES + more as u64 => Err(TransferError::Unreachable {
                text: format!("less than {LEAST_FREE_BYTES} B would be free on the disk of the library"),
            }),
            // If the free space is unknown, the write itself shows whether there is enough.
            _ => Ok(()),
        }
    }
}
