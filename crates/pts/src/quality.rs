//! Reliability of a test's figures: too few I/Os, a queue depth that was not maintained, host limits,
//! temperature and plausibility. Each module detects one of these problems and formats the note about it.

pub(crate) mod depth;
pub(crate) mod extended;
pub(crate) mod few_ios;
pub mod harmonic;
pub mod host_limit;

pub(crate) use steadystate::temperature;
