//! Notes.

use super::table::{Folded, Table, integer, numbered, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "note",
    about: "One note of the operator about a run",
    columns: &[integer("number", "Position, from 1"), text("text", "The note")],
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    numbered(folded.run.labels.notes.iter().map(|note| vec![(&**note).into()]))
}
