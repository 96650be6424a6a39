//! Prepares the tests of a run on an open drive: checks the settings of the tests before anything is changed, opens the
//! power source, and restores a simulated drive to the state in which an interrupted run left it. For a run that is
//! resumed, finds its drive and determines whether its drive or file has been used for another purpose.
#![forbid(unsafe_code)]

pub mod active_range;
pub mod by_serial;
pub mod confirmation;
pub mod holes;
pub mod job;
pub mod models;
pub mod others;
pub mod power;
pub mod preflight;
pub mod rebuild;
pub mod renamed;
pub mod reused;
