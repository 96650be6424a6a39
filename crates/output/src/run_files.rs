//! Names of the files that Plateau stores in a run's directory in addition to `run.json`, the journal and the report.

/// The plan's logo.
pub use report::LOGO_FILE as LOGO;
/// The journal's signature.
pub const SIGNATURE: &str = "signature.json";
/// The file that a run was imported from.
pub const IMPORTED: &str = "imported-file";
