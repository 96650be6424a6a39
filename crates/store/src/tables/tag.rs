//! Tags.

use super::table::{Folded, Table, integer, numbered, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "tag",
    about: "One tag of a run",
    columns: &[integer("number", "Position, from 1"), text("tag", "The tag")],
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    numbered(folded.run.labels.tags.iter().map(|tag| vec![(&**tag).into()]))
}
