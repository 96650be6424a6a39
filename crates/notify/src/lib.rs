//! Notices about runs: starts a program, calls a webhook or sends mail when a run ends, fails, stalls or
//! needs attention.
//!
//! A separate process (`plateau notify`) observes the library. It reads runs as an untrusted observer, never writes to
//! them and takes no lock that a run waits for, so neither a slow channel nor a crash of this process affects runs.
#![forbid(unsafe_code)]

mod channel;
pub mod config;
pub mod decide;
mod mail;
mod memory;
mod notice;
mod observe;
mod render;
#[cfg(test)]
#[path = "../../record/tests/support/mod.rs"]
mod run_of_tests;
mod service;

pub use channel::{Channel, DeliveryError};
pub use config::{Config, Mistake};
pub use memory::{Memory, MemoryError};
pub use notice::{About, Event, Failing, Notice, Subject, Verdict};
pub use observe::{ObserveError, Observer, Past};
pub use outbound::{FileError, read_config};
pub use render::{PAYLOAD_VERSION, json, subject, text};
pub use service::{Delivered, ReadJobs, Service, ServiceError, Undelivered};
