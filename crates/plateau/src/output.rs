//! Output that depends on the command line: lists, reports and labels. Everything else is in the `output` crate.

pub(crate) mod annotating;
pub(crate) mod catalogue;
pub(crate) mod listing;
pub(crate) mod options;
pub(crate) mod publication;
pub(crate) mod report_file;
pub(crate) mod several;
pub(crate) mod shared;
pub(crate) mod standing;
pub(crate) mod version;

pub(crate) use ::output::{extension, file, places, printer, signature, summary, verbose};
