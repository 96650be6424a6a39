//! Names of the files in a run's directory in addition to `run.json`, the journal and the report.

/// The logo from the plan.
pub const LOGO: &str = "logo";
/// The journal's signature.
pub const SIGNATURE: &str = "signature.json";
/// The file from which an imported run was made.
pub const IMPORTED: &str = "imported-file";
