//! The methodology as defined by the PTS: profiles, context and workloads, the history of a test, steady
//! state. Code here depends neither on individual tests nor on how results are displayed.

pub(crate) mod context;
pub mod explain;
pub(crate) mod fall;
pub mod forecast;
pub mod history;
pub mod profile;
pub(crate) mod profiles;
pub mod range;
pub mod steady;
pub(crate) mod timeline;
