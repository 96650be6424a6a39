//! The report of a run, as `plateau report` writes it.

use report::{Document, LOGO_FILE, Publication};

use crate::snapshot::Snapshot;

/// Creates the report of a run, with the sponsor, auditor, notes and logo of its plan.
///
/// # Errors
/// Returns an error if the run cannot be evaluated, or if its logo is missing or was replaced.
pub fn document(snapshot: &Snapshot) -> Result<Document, String> {
    let run = &snapshot.run;
    let publication =
        Publication::of_run(&run.file, None, |limit_bytes| run.read_file(LOGO_FILE, limit_bytes))?;
    Ok(report::fold(&run.file, &snapshot.loaded)?.published(publication))
}
