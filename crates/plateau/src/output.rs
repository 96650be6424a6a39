//! What a user sees: standard output and standard error, progress on a terminal, summaries, and output files.
//! Nothing here decides how a run continues.

pub(crate) mod file;
pub(crate) mod listing;
pub(crate) mod options;
pub(crate) mod places;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod publication;
pub(crate) mod report_file;
pub(crate) mod run_files;
pub(crate) mod screen;
pub(crate) mod signature;
pub(crate) mod summary;
pub(crate) mod terminal;
pub(crate) mod text_chart;
pub(crate) mod verbose;
pub(crate) mod version;
