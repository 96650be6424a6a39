//! A simulated solid-state drive in virtual time.
//!
//! An event-driven, page-mapped flash translation layer on dies and channels. A write passes the controller and
//! the host link to the write buffer, and from there to a die; garbage collection runs on the same dies. No
//! behaviour follows a predefined curve: the write cliff, the steady state and the recovery in idle time all
//! emerge from the mapping.
//!
//! It is single-threaded, reads no wall clock, and uses only integers while it runs: the same model, scale, seed
//! and loads produce the same bytes on every machine.
#![forbid(unsafe_code)]

mod admin;
mod cache;
mod check;
mod collect;
mod command;
mod events;
mod faults;
pub mod fit;
mod flash;
mod health;
mod hybrid;
mod link;
mod load;
mod map;
mod model;
mod plan;
mod power;
mod queue;
mod reference;
mod run;
mod scale;
mod ssd;
mod thermal;
mod witness;
mod write;
mod write_through;

pub use faults::{Cause, FAULT_GRAMMAR, Failure, FaultError, Faults, LostCommands, MediaFault, Throttling};
pub use health::{Health, Smart};
pub use load::{Direction, Failed, Load, Tally, Tick, Until};
pub use map::Memory;
pub use model::{
    Cache, Calibration, Class, Firmware, Geometry, Hybrid, Interface, MODELS, Model, ModelError, Pcie,
    Thermal, Timing, VictimPolicy,
};
pub use queue::{Command, Completion, Queue};
pub use run::MOST_IN_FLIGHT;
pub use scale::{Scale, ScaleError};
pub use ssd::Ssd;
pub use witness::{LoadRecorder, PARTS};
