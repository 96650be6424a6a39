//! Reliability of the figures of a test: few I/Os, a queue depth that was not maintained, limits of the host,
//! temperature, plausibility. Each module detects one such problem and formats the note about it.

pub(crate) mod depth;
pub(crate) mod extended;
pub(crate) mod few_ios;
pub mod harmonic;
pub mod host_limit;
pub(crate) mod temperature;
