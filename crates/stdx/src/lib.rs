//! What could have been in std: sizes and times as text, a seeded generator, access streams, a histogram, files that
//! others may have prepared.
//!
//! Nothing here knows about drives, tests or reports.
#![forbid(unsafe_code)]

pub mod access;
pub mod files;
pub mod histogram;
mod nearest;
pub mod rng;
pub mod text;
pub mod units;

pub use histogram::Histogram;
pub use nearest::nearest;
pub use rng::Rng;
