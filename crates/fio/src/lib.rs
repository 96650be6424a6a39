//! fio's vocabulary: job files and options become workloads, and the results of jobs become text and JSON under
//! fio's names. This crate is pure: it opens no target and reads no file.
//!
//! [`parse`] reads a job file and [`set`] one option into [`Job`]s; [`Job::streams`] converts a job and the size of
//! its target to workloads. Each supported option is one entry in [`KEYS`]; any other option is refused with an
//! error that names it. The segments that a target returns are combined into [`result::Part`]s.
#![forbid(unsafe_code)]

mod file;
mod job;
mod keys;
mod meaning;
pub mod result;
mod setters;
mod values;

pub use file::parse;
pub use job::Job;
pub use keys::{Form, KEYS, Key, set};
pub use values::engine;
