//! The SNIA SSS Performance Test Specification (PTS) as code.
//!
//! A test is straight-line code that uses a [`Bench`]: five operations that a real drive, a simulated drive or a
//! journal can serve. This crate performs no I/O, starts no threads and reads no clock. A test's conclusions
//! depend only on the settings and results, so replaying a journal produces the same verdicts and exhibits.
#![forbid(unsafe_code)]

pub mod tests;

mod bench;
mod conclusions;
mod custom;
mod exhibits;
#[cfg(test)]
#[path = "../../steadystate/src/fixture.rs"]
mod fixture;
mod flows;
mod imported;
mod method;
mod quality;
mod review;
mod task;
mod test;

pub use exhibits::{exhibit, response};
pub use method::{explain, forecast, history, profile, range, steady};
pub use quality::{harmonic, host_limit};
pub use review::{replay, verify};

pub use bench::{Bench, Stop};
pub use chartdata::ReadingHint;
pub use chartdata::Unit;
pub use chartdata::{DemandSweep, SweepPoint};
pub use conclusions::acceptance::{Acceptance, Reason};
pub use conclusions::deviation::{Deviation, ReportedBy, listed, texts};
pub use conclusions::ending::Ending;
pub use conclusions::failures::{Failures, failures};
pub use conclusions::header::{Convergence, Phases, TestHeader};
pub use conclusions::judged_loop::JudgedLoop;
pub use conclusions::mark::{Mark, check_marks, marks};
pub use conclusions::modified::{deviations, modifications};
pub use conclusions::outcome::{KeyFigure, Outcome};
pub use conclusions::write_cache::write_cache_states;
pub use flows::composite::Composite;
pub use imported::absent::ABSENT;
pub use method::context::{Context, PRECONDITION_BLOCK};
pub use method::profile::{Profile, WriteCache};
pub use method::profiles::PROFILES;
pub use review::replay::{Replay, Replayed, replay};
pub use review::standing::Standing;
pub use task::Task;
pub use test::Test;
pub use tests::TESTS;
