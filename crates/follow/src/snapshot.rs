//! A run at the time of its latest record. All viewers of a run share one snapshot, so that each record is read and
//! evaluated only once, no matter how many pages show it.

use std::sync::{Arc, Mutex, PoisonError};

use pts::{Replayed, Standing};
use record::{Loaded, Run};

use crate::stamp::Stamp;

/// Number of snapshots to keep: enough for two dozen runs in progress and as many others that someone is viewing.
const MOST_SNAPSHOTS: usize = 48;

/// The state of a run according to its journal.
#[derive(Debug)]
pub struct Snapshot {
    /// The run.
    pub run: Run,
    /// Records in the journal.
    pub loaded: Loaded,
    /// Evaluated tests of the run.
    pub replayed: Replayed,
    /// State of the run.
    pub standing: Standing,
    stamp: Option<Stamp>,
}

impl Snapshot {
    /// Reads `run`. If `before` is an earlier snapshot of it, only the records after that snapshot are read.
    fn take(
        run: Run,
        stamp: Option<Stamp>,
        in_progress: bool,
        before: Option<&Self>,
    ) -> Result<Self, String> {
        let loaded = match before.filter(|before| before.run.identity() == run.identity()) {
            Some(before) => run.load_more(before.loaded.clone()),
            None => run.load(),
        };
        let loaded = loaded.map_err(|error| error.to_string())?;
        let replayed = pts::replay(&run.file, &loaded.entries)?;
        let standing = Standing::of(&loaded.entries, &replayed.outcomes, in_progress);
        Ok(Self { run, loaded, replayed, standing, stamp })
    }
}

/// The latest snapshot of one run. It is locked while the journal is read, so that readers of one run wait for one
/// another instead of reading the same journal at the same time.
type Slot = Arc<Mutex<Option<Arc<Snapshot>>>>;

/// Recent snapshots; the most recently used one is last.
#[derive(Default)]
pub struct Snapshots {
    kept: Mutex<Vec<(String, Slot)>>,
}

impl Snapshots {
    /// Returns the current snapshot of `run`.
    ///
    /// # Errors
    /// Returns a description of the problem if the journal cannot be read or evaluated.
    pub fn of(&self, run: Run) -> Result<Arc<Snapshot>, String> {
        let slot = self.slot(&run.file.id);
        let mut known = slot.lock().unwrap_or_else(PoisonError::into_inner);
        // The state of the journal file is determined before the journal is read, so that a record that arrives in
        // between causes another read instead of a stale page.
        let stamp = Stamp::of(&run.journal_path());
        let in_progress = transfer::appears_in_progress(&run);
        let is_current = |known: &Snapshot| {
            known.stamp == stamp
                && known.run.identity() == run.identity()
                && known.run.file.labels == run.file.labels
                && (known.standing == Standing::Running) == (in_progress && !known.is_closed())
        };
        if let Some(known) = known.as_ref().filter(|known| is_current(known)) {
            return Ok(Arc::clone(known));
        }
        // After an error, the earlier snapshot is kept: the next attempt need not read its records again.
        let snapshot = Arc::new(Snapshot::take(run, stamp, in_progress, known.as_deref())?);
        *known = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Returns the slot of a run. Other runs' slots remain available while this one is in use.
    fn slot(&self, id: &str) -> Slot {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = match kept.iter().position(|(known, _)| known == id) {
            Some(at) => kept.remove(at).1,
            None => Slot::default(),
        };
        if kept.len() == MOST_SNAPSHOTS {
            kept.remove(0);
        }
        kept.push((id.to_owned(), Arc::clone(&slot)));
        slot
    }
}

impl Snapshot {
    /// Returns whether all tests of the run are complete.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.loaded.entries.iter().any(|entry| matches!(entry.event, record::Event::Closed))
    }

    /// Returns the number of the last record.
    #[must_use]
    pub fn last_record(&self) -> Option<u64> {
        self.loaded.entries.last().map(|entry| entry.seq)
    }
}

#[cfg(test)]
mod tests;
