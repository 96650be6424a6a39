//! Results as data: tables, charts, units, and how to read a chart. Tests produce them, renderers draw them, and neither
//! depends on the other.
#![forbid(unsafe_code)]

pub mod exhibit;
mod parts;
mod reading;
mod sweep;
mod unit;

pub use reading::ReadingHint;
pub use sweep::{DemandSweep, SweepPoint};
pub use unit::Unit;
