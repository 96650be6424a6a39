//! A run from beginning to end: the request, the checks before the first change, and its execution on one or more
//! targets, including interruption and resumption. This module neither parses a command line nor formats results.

pub(crate) mod campaign;
pub mod course;
pub(crate) mod driving;
pub(crate) mod labels;
pub(crate) mod lifecycle;
pub(crate) mod rehearsal;
pub(crate) mod request;
pub(crate) mod session;
pub(crate) mod signals;
pub(crate) mod speeds;
