//! Host facts, checks, and changes to host and drive settings, which are made for a run and undone afterwards.
//! Other crates define what is measured, and in what order.
#![forbid(unsafe_code)]

pub mod checks;
pub mod facts;
pub mod lba_format;
pub mod noted;
pub mod restore;
pub mod setup;
pub mod tuning;
pub mod write_cache;
