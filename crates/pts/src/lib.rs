//! The SNIA SSS Performance Test Specification (PTS) as code.
//!
//! A test is straight-line code over [`Bench`]: five verbs that a real drive, a simulated drive or a journal can
//! answer. This crate performs no I/O, starts no threads and reads no clock. The conclusions of a test depend only on
//! the settings and the answers, so replaying a journal produces the same verdicts and exhibits.
#![forbid(unsafe_code)]

pub mod assumed;
pub mod dry;
pub mod exhibit;
pub mod explain;
pub mod forecast;
pub mod harmonic;
pub mod host_limit;
pub mod limits;
pub mod phase;
pub mod plan;
pub mod preset;
pub mod probe;
pub mod profile;
pub mod range;
pub mod replay;
pub mod response;
pub mod rounds;
pub mod settings;
mod shallow;
pub mod spent;
pub mod steady;
pub mod tests;
pub mod verify;

mod composite;
mod context;
mod demand;
mod few_ios;
mod imported;
mod modified;
mod outcome;
mod own;
mod precondition;
mod profiles;
mod task;
mod temperature;
mod timeline;
mod window_pages;
mod zones;

pub use context::Context;
pub use modified::{Deviation, ReportedBy, deviations, listed, modifications, texts};
pub use outcome::{Convergence, KeyFigure, Outcome, Phases, TestHeader};
pub use plan::{Plan, PlanError};
pub use preset::{PRESETS, Preset};
pub use profile::{PROFILES, Profile, WriteCache};
pub use replay::{Replay, Replayed, replay};
pub use task::Task;
pub use tests::{TESTS, Test};

use record::{Note, Purged, Segment, Workload};

/// Answers the requests of a test: a live drive, the simulator or a journal.
pub trait Bench {
    /// Returns the drive to its fresh-out-of-box state.
    ///
    /// # Errors
    /// If the test must stop, as with every verb.
    fn purge(&mut self) -> Result<Purged, Stop>;

    /// Runs a preconditioning write, which is not a measurement.
    ///
    /// # Errors
    /// If the test must stop.
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop>;

    /// Measures one cell.
    ///
    /// # Errors
    /// If the test must stop.
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop>;

    /// Leaves the drive idle for `length_ns`, without sending any command.
    ///
    /// # Errors
    /// If the test must stop.
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop>;

    /// Records a note of the test.
    ///
    /// # Errors
    /// If the test must stop.
    fn note(&mut self, note: Note) -> Result<(), Stop>;
}

/// Why a test cannot continue. The measurements so far are kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The journal has no more answers.
    #[error("the run was interrupted here")]
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
}
