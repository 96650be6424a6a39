//! The host and the drive's settings around a run: facts that are recorded, checks, and changes that are made for the
//! duration of a run and restored afterwards. The measurements and their order are defined elsewhere.
#![forbid(unsafe_code)]

pub mod checks;
pub mod facts;
pub mod lba_format;
pub mod restore;
pub mod setup;
pub mod tuning;
pub mod write_cache;
