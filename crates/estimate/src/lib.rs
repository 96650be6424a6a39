//! What a run costs: speeds, estimates, actual cost, current phase and remaining time. An estimate runs a
//! test's real code on an assumed drive.
#![forbid(unsafe_code)]

pub mod assumed;
pub mod cost;
pub mod dry;
pub mod phase;
pub mod probe;
