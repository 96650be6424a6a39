//! fio's vocabulary: job files and the options of `plateau load`, with the same names and meanings.
//!
//! Pure: parses text to [`Job`]s, and converts a job and the facts about its target to workloads. Every supported
//! option is one entry in [`keys::KEYS`]; any other option is refused by name.

mod file;
mod job;
mod keys;
mod meaning;
mod setters;
mod values;
#[cfg(test)]
mod witnessed;

pub use file::parse;
pub use job::Job;
pub use keys::{Form, KEYS, Key, set};
pub use values::engine;
