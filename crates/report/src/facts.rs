//! What a run and its journal say, one question per file, before anything is laid out: answers of the drive, dates,
//! interruptions, conformance, health. Nothing in here knows the document, a page or a format.

pub(crate) mod answers;
pub(crate) mod conformance;
pub(crate) mod dates;
pub(crate) mod drive_and_host;
pub(crate) mod host_limit;
pub(crate) mod interruptions;
pub(crate) mod judged;
pub(crate) mod scaled_clock;
pub(crate) mod supplement;

#[cfg(test)]
mod samples;
