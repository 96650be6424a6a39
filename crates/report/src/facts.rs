//! Facts extracted from a run and its journal, independent of any layout. Each file covers one topic: results from
//! the drive, dates, interruptions, conformance, health. Facts do not depend on the document, a page or a format.

pub(crate) mod answers;
pub(crate) mod codes;
pub(crate) mod conformance;
pub(crate) mod dates;
pub(crate) mod drive_and_host;
pub(crate) mod efficiency;
pub(crate) mod figures;
pub(crate) mod file_share;
pub(crate) mod host_limit;
pub(crate) mod interruptions;
pub(crate) mod judged;
pub(crate) mod observations;
pub(crate) mod platform;
pub(crate) mod readings;
pub(crate) mod scaled_clock;
pub(crate) mod supplement;

#[cfg(test)]
mod samples;
