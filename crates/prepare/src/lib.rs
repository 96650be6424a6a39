//! What happens around the tests of a run on an open drive: their settings are checked before anything is changed, the
//! source of power is opened, and a simulated drive is brought back to where an interrupted run left it.
#![forbid(unsafe_code)]

pub mod power;
pub mod preflight;
pub mod rebuild;
