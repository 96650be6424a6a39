//! `plateau load`: fio's vocabulary, the assignment of jobs to targets and stages, and the results of jobs.
//! Only the command in `commands/load.rs` performs I/O; everything here is a function of its arguments.

pub(crate) mod fio;
pub(crate) mod plan;
pub(crate) mod result;
