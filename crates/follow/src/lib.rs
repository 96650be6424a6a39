//! A run in progress, as those who watch it see it: folded from its journal, shared by pages (`lab`) and terminals
//! (`watch`).
//!
//! Only reads: it opens no device, writes no file and holds no lock, so that a run cannot notice it.
#![forbid(unsafe_code)]

pub mod live;
pub mod snapshot;
mod stamp;

pub use stamp::Stamp;
