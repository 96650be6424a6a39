//! Requests to servers: runs the `curl` program with a time limit, and reads secrets that no other user can read.
//!
//! Services that send notices or runs depend on this crate; commands that measure do not.
#![forbid(unsafe_code)]

pub mod curl;
mod files;
pub mod process;

pub use files::{FileError, check_secret, read_config, read_secret};
