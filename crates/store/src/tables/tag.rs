//! Tags.

use super::table::{Folded, Table, added, integer, numbered, text, time};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "tag",
    about: "One tag of a run",
    columns: &[
        integer("number", "Position, from 1"),
        text("tag", "The tag"),
        time("added_utc", "When it was added; null if the run was started with it"),
        text("added_by", "Who added it; null if the run was started with it"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let tags = folded.annotations.tags(&folded.run.id, &folded.run.labels);
    numbered(tags.into_iter().map(|(tag, stamp)| [tag.into()].into_iter().chain(added(stamp)).collect()))
}
