//! A snapshot of the known state of a run.

use std::sync::{Arc, OnceLock};

use follow::snapshot::Snapshot;
use jiff::Timestamp;
use live::Live;
use pts::Standing;
use record::gap_ns;
use report::Latest;

/// Age of the `live` file after which its content is out of date.
const FRESH_NS: u64 = 5_000_000_000;

/// A run on the screen.
#[derive(Debug)]
pub struct Item {
    /// Id of the run.
    pub id: String,
    /// The run's known state, or why the run cannot be read.
    pub shown: Result<Shown, String>,
}

/// A run at one point in time.
#[derive(Debug)]
pub struct Shown {
    /// The content of its journal.
    pub snapshot: Arc<Snapshot>,
    /// The content of its `live` file.
    pub live: Option<Live>,
    /// The time of the snapshot.
    pub now: Timestamp,
    pub(crate) hour: Arc<Hour>,
}

/// The latest hour of a snapshot. It is computed when it is first displayed, because this takes CPU time that a run may
/// need.
#[derive(Debug, Default)]
pub(crate) struct Hour(OnceLock<Option<Latest>>);

impl Shown {
    /// Returns what the run is doing in this second; `None` if it is not running or there is no current report.
    #[must_use]
    pub fn present(&self) -> Option<&Live> {
        let is_fresh = |live: &&Live| live.age_ns(self.now) <= FRESH_NS;
        self.live.as_ref().filter(is_fresh).filter(|_| self.is_running())
    }

    /// Returns the latest hour of the run; `None` before the first workload is complete, and for files from other tools,
    /// which contain no values over time.
    #[must_use]
    pub(crate) fn hour(&self) -> Option<&Latest> {
        let Snapshot { run, loaded, .. } = &*self.snapshot;
        let latest = || report::latest(&run.file, &loaded.entries).filter(|_| run.file.origin.is_none());
        self.hour.0.get_or_init(latest).as_ref()
    }

    /// Returns whether a process is executing the run.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.snapshot.standing == Standing::Running
    }

    /// Returns the time since the last record.
    #[must_use]
    pub fn record_age_ns(&self) -> Option<u64> {
        self.snapshot.loaded.entries.last().map(|entry| gap_ns(entry.wall, self.now))
    }

    /// Returns the marks that must accompany the figures of the run.
    #[must_use]
    pub fn marks(&self) -> Vec<&'static str> {
        let file = &self.snapshot.run.file;
        let is_limited = |live: &Live| live.host_limited;
        let marks = [
            (file.target.simulated.is_some(), "SIMULATED"),
            (file.origin.is_some(), "IMPORTED"),
            (!self.snapshot.replayed.modified.is_empty(), "MODIFIED"),
            (self.present().is_some_and(is_limited), "HOST-LIMITED"),
        ];
        marks.into_iter().filter_map(|(applies, mark)| applies.then_some(mark)).collect()
    }
}
