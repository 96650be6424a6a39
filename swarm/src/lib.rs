//! Deterministic simulation: complete runs on simulated drives and simulated disks, crashed at every event.
//!
//! A [`Scenario`] is derived from its seed: the tests, the drive, and the disk faults. The scenario is run once.
//! The log of the run's disk operations yields every state that a crash can leave behind. The product's own code
//! resumes the run from each of these states and completes it. A *life* is one process of a run, from its start
//! to its end or crash; a *promise* is a guarantee that the checks verify (`docs/measurements/simulation.md`).
#![forbid(unsafe_code)]

mod check;
mod explore;
mod life;
mod notes;
mod scenario;
mod script;
mod shown;
mod shrink;
mod witness;

pub use check::{Broken, Promise};
pub use explore::{Count, Failure, explore};
pub use life::{Product, WholeProduct};
pub use notes::explore as explore_notes;
pub use scenario::{Scenario, Setting};
pub use script::{Clock, Cut, Life, Script};
pub use shrink::{play, shrink};
