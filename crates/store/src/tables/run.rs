//! Runs.

use stdx::text::on_one_line;

use super::table::{Folded, Table, added, integer, text, time};
use crate::state;
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "run",
    about: "One run",
    columns: &[
        text("library", "Name of the library in a shared store; empty in a library's own store"),
        text("folder", "Name of the run's directory in the library"),
        text("run_id", "Id of the run"),
        text("name", "Name given by the operator"),
        time("started_utc", "Start"),
        time("last_record_utc", "Time of the last record in the journal"),
        text("tests", "Names of the requested tests, in order, separated by commas"),
        text("profile", "Profile, such as `pts-e-1.0`"),
        text("target", "Description of the target, with the label of simulated and imported results"),
        text(
            "state",
            "`steady`, `unsteady`, `complete` (no test requires steady state), or `incomplete`: interrupted or in \
             progress when it was indexed",
        ),
        text("conformance", "`conforms`, `modified` or `does_not_conform`; null for imported results"),
        text("simulated", "Label of simulated results; null for all others"),
        integer(
            "scale_divisor",
            "Factor by which the capacity and test times of a simulated drive are divided; 1 for all others",
        ),
        text("imported_from", "Tool that measured an imported run; null for all others"),
        integer("threads", "Thread count of the test loop"),
        integer("queue_depth", "Outstanding I/Os per thread"),
        integer("seed", "Seed for every offset; null above 2^63 - 1"),
        text("plateau_version", "Version of Plateau that started the run"),
        integer("records", "Number of complete records in the journal"),
        text("journal_sha256", "Hash of the last record, which covers all records"),
        time(
            "archived_utc",
            "When the run was hidden with **Archive** in `plateau serve`; null if it is not hidden. `plateau archive` has \
             no effect on this column",
        ),
        text("archived_by", "Who hid the run; null if it is not hidden"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let Folded { run, loaded, .. } = folded;
    let findings = folded.findings;
    let [archived_utc, archived_by] = added(folded.annotations.archived(&run.id));
    let conformance = findings.run_verdict().map(verdict);
    vec![vec![
        folded.library.into(),
        folded.folder.into(),
        (&*run.id).into(),
        folded.annotations.labels(&run.id, &run.labels).name.into(),
        run.created.into(),
        loaded.entries.last().map(|entry| entry.wall).into(),
        run.tests.join(",").into(),
        (&*run.profile).into(),
        on_one_line(&run.target_line()).into_owned().into(),
        state::name(folded.state).into(),
        conformance.into(),
        run.target.simulated.as_ref().map(record::SimulatedFacts::label).into(),
        run.scale_divisor().into(),
        run.origin.as_ref().map(|origin| &*origin.tool).into(),
        run.settings.as_ref().map(|settings| settings.threads).into(),
        run.settings.as_ref().map(|settings| settings.queue_depth).into(),
        run.settings.as_ref().map(|settings| settings.seed).into(),
        (&*run.plateau_version).into(),
        (loaded.entries.len() as u64).into(),
        loaded.digest.to_string().into(),
        archived_utc,
        archived_by,
    ]]
}

/// Returns the name of a verdict in the store.
pub(super) fn verdict(verdict: report::Verdict) -> &'static str {
    match verdict {
        report::Verdict::Conforms => "conforms",
        report::Verdict::Modified => "modified",
        report::Verdict::DoesNotConform => "does_not_conform",
    }
}
