//! Steady state as defined by the PTS: the values of tracking variables over rounds, the measurement window and its
//! limits, how certain a verdict is, when steady state can be expected, and why it was not reached. Pure, and
//! independent of any test.
#![forbid(unsafe_code)]

pub mod confidence;
pub mod explain;
pub mod forecast;
pub mod history;
pub mod steady;
