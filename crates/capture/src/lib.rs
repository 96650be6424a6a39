//! Records the I/Os of a block device while it is in use, with the kernel's own tracer: a private instance of tracefs, in which only two
//! events are enabled, for one device.
//!
//! The device itself is never opened. tracefs does not have to be mounted: it is opened without a place in the file tree, so nothing
//! has to be installed and nothing remains. The instance is removed on every way out; one that a killed process left
//! behind is removed by the next capture.
#![forbid(unsafe_code)]

mod capture;
mod error;
mod instance;
mod subject;

pub use capture::{Captured, capture};
pub use error::CaptureError;
pub use subject::{Kind, Subject};
