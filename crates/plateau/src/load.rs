//! `plateau load`: assigns fio's jobs to targets and stages. The `fio` crate interprets jobs and formats their
//! results; only the command in `commands/load.rs` performs I/O.

pub(crate) mod limits;
pub(crate) mod merge;
pub(crate) mod plan;
pub(crate) mod request;
pub(crate) mod start;
pub(crate) mod watch;
