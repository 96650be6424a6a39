//! What happens around the tests of a run on an open drive: the tests' settings are checked before anything
//! is changed, the power source is opened, and a simulated drive is brought back to the state in which an
//! interrupted run left it.
#![forbid(unsafe_code)]

pub mod power;
pub mod preflight;
pub mod rebuild;
