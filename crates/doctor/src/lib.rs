//! Examines a library of runs: every file in every run is read and verified, and every problem is reported as a value.
//! Nothing is changed.
#![forbid(unsafe_code)]

mod added;
mod diagnosis;
mod examine;
mod problem;
mod severity;

pub use added::AddedProblem;
pub use diagnosis::{Diagnosed, Diagnosis};
pub use examine::{Caller, Examined, examine};
pub use problem::{Finding, Problem};
pub use severity::Severity;
