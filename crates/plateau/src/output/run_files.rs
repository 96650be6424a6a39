//! Names of the files that Plateau keeps in a run's directory beside its `run.json`, journal and report.

/// The logo of the plan.
pub const LOGO: &str = "logo";
/// The signature of the journal.
pub const SIGNATURE: &str = "signature.json";
/// The file from which a run was imported.
pub const IMPORTED: &str = "imported-file";
