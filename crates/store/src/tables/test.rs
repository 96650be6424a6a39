//! The started tests of each run.

use super::run::verdict;
use super::table::{Folded, Table, boolean, integer, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "test",
    about: "One test that was started",
    columns: &[
        text("test", "Name of the test, such as `iops`"),
        text("title", "Title as printed"),
        text("clause", "Clause of the specification; null if the profile has no such test"),
        text("purge", "Purge method, or why the target was not purged"),
        integer("rounds", "Number of completed rounds"),
        boolean("converged", "1 if steady state was reached, 0 if not; null if not evaluated or unknown"),
        text("stopped", "Why the test is incomplete; null if it is complete"),
        text("conformance", "`conforms`, `modified` or `does_not_conform`; null for imported results"),
        text("acceptance", "Verdict of a test that accepts or rejects the drive"),
        integer("io_errors", "Failed I/Os; null for imported results"),
        integer("deviations", "Number of deviations caused by events during the test"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let findings = folded.findings;
    let row = |outcome: &pts::Outcome| {
        let conformance = findings.conformance().iter().find(|found| found.test == outcome.test);
        let failures =
            || pts::failures(&outcome.test, &folded.loaded.entries).iter().map(|f| f.count).sum::<u64>();
        vec![
            (&*outcome.test).into(),
            (&*outcome.title).into(),
            outcome.clause.into(),
            (&*outcome.header.purge).into(),
            outcome.rounds.into(),
            outcome.converged.into(),
            outcome.stop.as_ref().map(ToString::to_string).into(),
            conformance.map(|found| verdict(found.verdict)).into(),
            outcome.acceptance.as_ref().map(|acceptance| acceptance.word()).into(),
            folded.run.origin.is_none().then(failures).into(),
            (outcome.modified.len() as u64).into(),
        ]
    };
    findings.outcomes().iter().map(row).collect()
}
