//! The results of one load that ran on several hosts at the same time, combined into one result.
//!
//! Histograms are added slot by slot, so every percentile equals that of all response times together. A result that is
//! missing, incomplete or from another time is never left out: there is no combined result then, only the
//! [`Problem`]s.

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
