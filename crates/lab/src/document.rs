//! The report of a run, as `plateau report` writes it.

use record::run_files::LOGO;
use report::{Document, Publication};

use crate::snapshot::Snapshot;

/// Content security policy of reports and comparisons, whose style and script are inline. Each also contains a stricter
/// policy, in its `head`, that allows only the script with the given hash; browsers apply both.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Creates the report of a run, with the sponsor, auditor, notes and logo of its plan.
///
/// # Errors
/// Returns an error if the run cannot be evaluated, or if its logo is missing or was replaced.
pub fn document(snapshot: &Snapshot) -> Result<Document, String> {
    let run = &snapshot.run;
    let publication = Publication::of_run(&run.file, None, |limit_bytes| run.read_file(LOGO, limit_bytes))?;
    Ok(report::fold(&run.file, &snapshot.loaded)?.published(publication))
}
