//! Runs one workload on a target: TC worker threads, each with its own queue. The calling thread watches
//! them.
//!
//! Every exit path joins all threads, and every thread reaps all I/Os that it submitted. How long this takes
//! after a stop depends on the device. If the device never completes its I/Os, the kernel's driver times out.

pub(crate) mod atomic;
mod attempt;
pub(crate) mod choose;
mod conclude;
pub(crate) mod concurrent;
mod content;
pub(crate) mod exits;
pub(crate) mod fill;
pub(crate) mod forgiven;
pub(crate) mod interval;
mod large_writes;
pub(crate) mod ledger;
mod loops;
mod message;
pub(crate) mod not_atomic;
mod nvme_support;
mod paced;
mod pauses;
mod periodic_syncs;
pub(crate) mod portion;
pub(crate) mod priorities;
mod ranges;
mod read_back;
pub(crate) mod recorder;
pub(crate) mod run;
pub(crate) mod schedule;
mod stamp;
pub mod stamp_run;
mod start;
mod stepped;
mod stillness;
mod tally;
pub(crate) mod target;
mod thread;
pub(crate) mod verifiable;
pub(crate) mod verified;
pub(crate) mod verify_report;
mod watch;
pub(crate) mod way;
mod worker;
mod write_buffers;
pub(crate) mod zones;
