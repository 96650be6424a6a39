//! A simulated solid-state drive in virtual time.
//!
//! It models a flash translation layer on dies and channels, from event to event. A write passes through the
//! controller and the host link to the write buffer, and from there to a die; garbage collection runs on the
//! same dies. No behaviour follows a predefined curve: the write cliff, steady state and recovery in idle time
//! all result from the mapping.
//!
//! The simulator is single-threaded, does not read the wall clock, and uses only integers at run time: the same
//! model, scale, seed and loads produce the same bytes on every machine.
#![forbid(unsafe_code)]

#[cfg(test)]
mod check;
mod defects;
mod device;
mod events;
mod faults;
pub mod fit;
mod flash;
mod ftl;
mod link;
mod model;
mod scale;
mod timeline;

pub use defects::{Defects, Sound};
pub use device::{
    Command, CommandQueue, Completion, Direction, Failed, Health, Load, LoadRecorder, MOST_IN_FLIGHT, PARTS,
    Queue, Smart, Ssd, Tally, Tick, Until,
};
pub use faults::{
    Cause, DataDefect, DataFault, FAULT_GRAMMAR, Failure, FaultError, Faults, FoundData, LostCommands,
    MediaFault, Throttling, WrongData,
};
pub use flash::Memory;
pub use model::{
    Cache, Calibration, Class, Firmware, Geometry, Hybrid, Interface, MODELS, Model, ModelError, Pcie,
    Thermal, Timing, VictimPolicy,
};
pub use scale::{Scale, ScaleError};
