//! Extensions to std: sizes and times as text, a seeded random number generator, access streams, a histogram, and
//! safe access to files that others may have tampered with.
//!
//! This crate knows nothing about drives, tests or reports.
#![forbid(unsafe_code)]

pub mod access;
pub mod files;
mod flow;
pub mod histogram;
mod login;
mod mistake;
mod nearest;
mod number;
mod packed;
pub mod parallel;
pub mod rng;
pub mod table;
pub mod text;
pub mod units;

pub use flow::Flow;
pub use histogram::Histogram;
pub use login::{host_name, login_name};
pub use mistake::Mistake;
pub use nearest::nearest;
pub use number::Number;
pub use packed::Packed;
pub use rng::Rng;
