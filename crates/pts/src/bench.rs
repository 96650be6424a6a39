//! The interface between a test and the source of its results: a live drive, the simulator or a journal.

use record::{Health, Note, Purged, Segment, Workload};

/// The source that serves a test's requests: a live drive, the simulator or a journal.
pub trait Bench {
    /// Returns the drive to its fresh-out-of-box state.
    ///
    /// # Errors
    /// Returns an error if the test must stop, as do the other four operations.
    fn purge(&mut self) -> Result<Purged, Stop>;

    /// Runs a preconditioning write, which is not a measurement.
    ///
    /// # Errors
    /// Returns an error if the test must stop.
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop>;

    /// Measures one cell.
    ///
    /// # Errors
    /// Returns an error if the test must stop.
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop>;

    /// Leaves the drive idle for `length_ns`, without sending any command.
    ///
    /// # Errors
    /// Returns an error if the test must stop.
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop>;

    /// Records a note by the test.
    ///
    /// # Errors
    /// Returns an error if the test must stop.
    fn note(&mut self, note: Note) -> Result<(), Stop>;

    /// Returns the drive's recorded health from the start of the test on, which is needed to evaluate a completed
    /// test. Only a replayed journal provides it; during a run, health is read and recorded independently of the test.
    fn recorded_health(&self) -> Vec<Health> {
        Vec::new()
    }
}

/// The reason why a test cannot continue. The measurements so far are kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The journal contains no more results.
    #[error("the run was interrupted")]
    EndOfJournal,
    /// Stopped on request.
    #[error("interrupted: {0}")]
    Interrupted(String),
    /// The drive or the host failed.
    #[error("{0}")]
    Failed(String),
    /// The recorded workload differs from the one that the test requests now.
    #[error("the journal does not match this version of the test: {0}")]
    Diverged(String),
    /// The imported file says why the test is not complete.
    #[error("{0}")]
    Stated(String),
}
