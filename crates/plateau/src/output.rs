//! Output for the user: results and failures, summaries, and output files. The streams themselves belong to
//! `console`. Nothing here decides how a run continues.

pub(crate) mod annotating;
pub(crate) mod catalogue;
pub(crate) mod file;
pub(crate) mod listing;
pub(crate) mod options;
pub(crate) mod places;
pub(crate) mod printer;
pub(crate) mod provenance;
pub(crate) mod publication;
pub(crate) mod report_file;
pub(crate) mod run_files;
pub(crate) mod signature;
pub(crate) mod standing;
pub(crate) mod summary;
pub(crate) mod verbose;
pub(crate) mod version;
