//! fio's words: job files and the options of `plateau load`, which are the same and mean the same.
//!
//! Pure: text in, [`Job`]s out, and from a job and what is known of its target the workloads that it means.
//! Every option is one line in [`keys::KEYS`]; whatever is not there is refused by name.

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
