//! Deterministic simulation: whole runs on simulated drives and simulated disks, with a crash at every event.
//!
//! A [`Scenario`] follows from its seed: which tests, on which drive, what goes wrong with the disk. Its run is made
//! once; from what it did to the disk follows every state that a crash may leave, and each of them is resumed to the end
//! of the run by the code of the product. `docs/measurements/simulation.md` says what is checked.
#![forbid(unsafe_code)]

mod check;
mod explore;
mod life;
mod notes;
mod scenario;
mod script;
mod shrink;
mod witness;

pub use check::{Broken, Promise};
pub use explore::{Count, Failure, explore};
pub use life::{Product, WholeProduct};
pub use notes::explore as explore_notes;
pub use scenario::{Scenario, Setting};
pub use script::{Clock, Cut, Life, Script};
pub use shrink::{play, shrink};
