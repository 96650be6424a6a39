//! Records the I/Os of a block device while it is in use, using the kernel's own tracer: a private tracefs instance in
//! which only the events of I/Os are enabled, for one device.
//!
//! The device itself is never opened. tracefs need not be mounted: it is opened as a detached mount, so nothing has to
//! be set up or cleaned up. The instance is removed on every exit path; if a process is killed, the next capture
//! removes its instance.
#![forbid(unsafe_code)]

mod capture;
mod error;
mod instance;
mod subject;

pub use capture::{Captured, capture};
pub use error::CaptureError;
pub use subject::{Kind, Subject};
