//! The state of a run in progress, derived from its journal and shared by web pages (`lab`) and terminals
//! (`watch`).
//!
//! Read-only: it opens no device, writes no file and takes no lock, so it does not affect runs.
#![forbid(unsafe_code)]

pub mod decision;
pub mod live;
pub mod snapshot;
mod stamp;

pub use stamp::Stamp;
