//! A solid-state drive in virtual time.
//!
//! An event-driven, page-mapped flash translation layer on dies and channels: a write goes through
//! the controller and the host link into the write buffer and from there to a die; garbage
//! collection works on the same dies. Nothing is drawn from a curve: the write cliff, the steady
//! state and the recovery in idle time follow from the mapping.
//!
//! One thread, no wall clock, and only integers while it runs: the same model, scale, seed and
//! loads give the same bytes on every machine.
#![forbid(unsafe_code)]

mod check;
mod collect;
mod events;
mod flash;
mod lane;
mod load;
mod map;
mod model;
mod plan;
mod run;
mod scale;
mod ssd;
mod write;

pub use load::{Direction, Load, Tally, Tick, Until};
pub use model::{Class, Firmware, Geometry, MODELS, Model, ModelError, Timing};
pub use scale::{Scale, ScaleError};
pub use ssd::{Health, Ssd};
