//! The host and the drive's settings around a run: facts that are recorded, checks, and changes that are made for
//! the duration of a run and restored afterwards. What is measured, and in which order, is decided in `run`.

pub(crate) mod checks;
pub(crate) mod facts;
pub(crate) mod lba_format;
pub(crate) mod restore;
pub(crate) mod setup;
pub mod tuning;
pub mod write_cache;

pub use ::state;
