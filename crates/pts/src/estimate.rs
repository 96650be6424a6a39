//! What a run will take and what it took: speeds, estimates, actual cost, the current phase and the remaining time.
//! An estimate runs the real code of a test on an assumed drive.

pub mod assumed;
pub mod cost;
pub mod dry;
pub mod phase;
pub mod probe;
