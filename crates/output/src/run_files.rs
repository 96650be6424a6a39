//! Names of the files that Plateau stores in a run's directory in addition to `run.json`, the journal and the report.

/// The logo of the plan.
pub use report::LOGO_FILE as LOGO;
/// The signature of the journal.
pub const SIGNATURE: &str = "signature.json";
/// The file from which a run was imported.
pub const IMPORTED: &str = "imported-file";
