//! A run, from its request to its end: the request, checks of whether it is possible, and its execution on one or
//! several targets, with interruption and resumption. Code here neither parses a command line nor formats results.

pub(crate) mod active_range;
pub(crate) mod by_serial;
pub(crate) mod campaign;
pub mod course;
pub(crate) mod driving;
pub(crate) mod labels;
pub(crate) mod lifecycle;
pub(crate) mod rehearsal;
pub(crate) mod renamed;
pub(crate) mod request;
pub(crate) mod session;
pub(crate) mod signals;
pub(crate) mod speeds;
