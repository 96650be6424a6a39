//! The cost of a run: speeds, estimates, actual cost, current phase and remaining time. An estimate runs the
//! real code of a test on an assumed drive.
#![forbid(unsafe_code)]

pub mod assumed;
pub mod cost;
pub mod dry;
pub mod phase;
pub mod probe;
