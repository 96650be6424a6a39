//! `plateau load`: the assignment of fio's jobs to targets and stages. What the jobs mean and how their results read is
//! in the crate `fio`; only the command in `commands/load.rs` performs I/O.

pub(crate) mod plan;
#[cfg(test)]
mod witnessed;
