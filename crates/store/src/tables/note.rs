//! Notes.

use super::table::{Folded, Table, added, integer, numbered, text, time};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "note",
    about: "One note by the operator about a run",
    columns: &[
        integer("number", "Position, from 1"),
        text("text", "The note"),
        time("added_utc", "When it was added; null if the run was started with it"),
        text("added_by", "Who added it; null if the run was started with it"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let notes = folded.annotations.notes(&folded.run.id, &folded.run.labels);
    numbered(notes.into_iter().map(|(note, stamp)| [note.into()].into_iter().chain(added(stamp)).collect()))
}
