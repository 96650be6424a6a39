//! The flash: how it is divided, how long its operations take, and which map unit each slot contains.
//!
//! Code that deals with dies, channels and slots belongs in this module, but not code that depends on the host
//! or on why a slot is written.

mod dies;
mod divisor;
mod layout;
mod map;
mod timing;

pub(crate) use dies::{Finished, Flash, NOBODY};
pub(crate) use layout::{Layout, RESERVE};
pub use map::Memory;
pub(crate) use map::{Map, NONE};
