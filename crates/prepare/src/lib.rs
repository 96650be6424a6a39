//! Prepares the tests of a run on an open drive: checks the settings of the tests before anything is changed, opens the
//! power source, and restores a simulated drive to the state in which an interrupted run left it.
#![forbid(unsafe_code)]

pub mod power;
pub mod preflight;
pub mod rebuild;
