//! Imports published figures, and the results of other tools, as ordinary runs.
//!
//! A parser is a pure function from bytes to [`Imported`]: one module under `formats` and one entry in
//! [`FORMATS`]. Files are untrusted: each format has a maximum size, entities are not expanded, every number
//! must be finite, non-negative and physically possible, and every list has a limit. Derived values in a file
//! (averages, verdicts) are recomputed, and differences are reported.
#![forbid(unsafe_code)]

pub mod examples;

mod formats;
mod imported;
mod measured;
mod number;
mod provenance;
mod read;
mod run;

pub use formats::{FORMATS, Format};
pub use imported::{Device, Imported, Provenance};
pub use read::{ImportError, largest_bytes, read};
pub use run::{Source, run};
