//! Baselines.

use super::table::{Folded, Table, integer, numbered, text, time};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "baseline",
    about: "One name under which a run is a baseline",
    columns: &[
        integer("number", "Position, from 1"),
        text("baseline", "Name of the baseline"),
        time("set_utc", "When the run became the baseline"),
        text("set_by", "Who set it"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let own = folded.annotations.baselines().filter(|(_, baseline)| baseline.run == folded.run.id);
    numbered(
        own.map(|(name, baseline)| vec![name.into(), baseline.set.wall.into(), (&*baseline.set.who).into()]),
    )
}
