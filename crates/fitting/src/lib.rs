//! Fits a drive model to a run (`plateau sim fit`): provides the measurements, the quality of the fit, and the
//! description of the model. The search itself is part of the simulator.
#![forbid(unsafe_code)]

mod described;
mod measured;
mod scores;

pub use described::{cells, describe, table};
pub use measured::measured;
pub use scores::{HELD_OUT_LIMIT, held_out, scores, verdict};
