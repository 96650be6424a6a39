//! The methodology as defined by the PTS: profiles, context and workloads; the `steadystate` crate evaluates rounds.
//! It depends neither on individual tests nor on how results are displayed.

pub(crate) mod context;
pub mod profile;
pub(crate) mod profiles;
pub mod range;

pub use steadystate::{confidence, explain, forecast, history, steady};
pub(crate) use steadystate::{fall, timeline};
