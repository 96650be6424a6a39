//! Deviations from the profile.

use super::table::{Folded, Table, integer, numbered, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "deviation",
    about: "One deviation of a run from its profile, as printed after `modified:`",
    columns: &[
        integer("number", "Position in the list, from 1"),
        text("test", "First test that caused it; null if the settings or the target caused it"),
        text("text", "The deviation in words"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let findings = folded.findings;
    numbered(findings.modified().iter().map(|deviation| {
        let test = findings.outcomes().iter().find(|outcome| outcome.modified.contains(deviation));
        vec![test.map(|outcome| &*outcome.test).into(), deviation.to_string().into()]
    }))
}
