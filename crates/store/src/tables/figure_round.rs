//! The round values that figures are averaged from.

use super::table::{Folded, Table, integer, real};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "figure_round",
    about: "One of the values that a figure averages: the value of one round of the measurement window",
    columns: &[
        integer("figure_number", "`number` of the figure"),
        integer("number", "Position in the window, from 1"),
        real("value", "Value in the unit of the figure"),
    ],
    by_test: Some(
        "JOIN figure ON figure.run_key = figure_round.run_key AND figure.number = figure_round.figure_number",
    ),
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let of_figure = |(figure, found): (u32, &report::parts::Figure)| {
        let row = |(number, value): (u32, &f64)| vec![figure.into(), number.into(), (*value).into()];
        // A single value is stored in the figure itself.
        let values = if found.values.len() > 1 { &found.values[..] } else { &[] };
        (1..).zip(values).map(row).collect::<Vec<_>>()
    };
    (1..).zip(folded.figures).flat_map(of_figure).collect()
}
