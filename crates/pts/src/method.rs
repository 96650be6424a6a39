//! The methodology as the PTS defines it: profiles, context and workloads, the history of a test, steady
//! state. Code here knows neither individual tests nor how results are shown.

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
