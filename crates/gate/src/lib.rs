//! Gates: rules that a run must meet before firmware is released, and the verdict in formats that scripts and
//! forges read.
//!
//! [`Rules::read`] reads a rules file, [`Facts::of`] extracts from a run what rules refer to, and [`decide()`]
//! is a pure function of both, which does not read files or the clock. A rule that cannot be checked is never
//! met.
#![forbid(unsafe_code)]

mod baseline;
mod decide;
mod facts;
pub mod formats;
mod health;
mod rules;
mod subject;
mod verdict;
mod words;

pub use baseline::Baseline;
pub use decide::decide;
pub use facts::Facts;
pub use rules::{Rules, SpreadUnknown};
pub use stdx::Mistake;
pub use subject::{Refused, Subject, judge};
pub use verdict::{List, Reason, RuleOutcome, RuleVerdict, Verdict, schema};
