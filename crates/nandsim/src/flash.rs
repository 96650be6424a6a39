//! The flash: how it is divided, how long its operations take, and which map unit each slot holds.
//!
//! Code belongs here if it knows dies, channels and slots, but neither the host nor the reason why a slot is written.

mod dies;
mod divisor;
mod layout;
mod map;
mod timing;

pub(crate) use dies::{Finished, Flash, NOBODY};
pub(crate) use layout::{Layout, RESERVE};
pub use map::Memory;
pub(crate) use map::{Map, NONE};
