//! The results of one load that ran on several hosts at the same time, combined into one result.
//!
//! Histograms are added slot by slot, so percentiles are the same as if one histogram had recorded all response times.
//! If any result is missing, incomplete or from another time, there is no combined result, only the [`Problem`]s.

mod combine;
mod document;
mod problem;
mod read;
#[cfg(test)]
mod tests;
mod text;

pub use combine::{Combined, CombinedJob, HostShare, combine};
pub use document::Document;
pub use problem::{Problem, Trouble};
pub use read::{Given, HostJob, HostResult};
