//! The power of a drive or its host.
//!
//! | module | what it does |
//! |---|---|
//! | `sources` | the power sources, one file each, listed in [`SOURCES`] |
//! | `sampler` | reads a source about once a second during a load, away from the load's CPUs |
//! | `tally` | samples as mean, extremes and standard error |
//! | `host` | all values that the host reports, for health readings |
//!
//! A source that names a program or a serial port is only as trustworthy as the origin of that name. This crate
//! does not check that origin: callers must not pass a name from a file that others can write to.
#![forbid(unsafe_code)]

mod error;
mod host;
mod lines;
mod sampler;
mod source;
mod sources;
mod sysfs;
mod tally;

pub use error::PowerError;
pub use host::HostMeters;
pub use sampler::Sampler;
pub use source::{BoundReader, Kind, Opened, Sample, Source, Surroundings};
pub use sources::{Named, SOURCES};
