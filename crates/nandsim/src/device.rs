//! The drive as the host sees it: commands, host link, faults, temperature, power and health.
//!
//! Code that deals with commands and their times belongs in this module; the translation layer determines where
//! data goes. The closed loop and the queue advance time through the same driver (`driver.rs`).

mod admin;
mod closed_loop;
mod command;
mod driver;
mod fault_injector;
mod health;
mod load;
mod load_recorder;
mod power;
mod queue;
mod state;
mod thermal;
mod timing;

pub use driver::MOST_IN_FLIGHT;
pub use health::{Health, Smart};
pub use load::{Direction, Failed, Load, Tally, Tick, Until};
pub use load_recorder::{LoadRecorder, PARTS};
pub use queue::{Command, CommandQueue, Completion, Queue};
pub use state::Ssd;
