//! The measurement windows.

use super::table::{Folded, Table, boolean, integer, real, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "steady_state",
    about: "The measurement window of one tracking variable of a test, in the unit of the test",
    columns: &[
        text("test", "Name of the test"),
        integer("number", "Position among the variables of the test, from 1"),
        text("variable", "Tracking variable, such as `RND 4KiB W`"),
        integer("first_round", "First round of the window"),
        integer("last_round", "Last round of the window"),
        real("mean", "Mean over the window"),
        real("data_excursion", "Largest minus smallest value"),
        real("data_excursion_allowed", "Limit of the data excursion"),
        real("slope_per_round", "Slope of the least-squares line"),
        real("slope_excursion", "Slope excursion over the window"),
        real("slope_excursion_allowed", "Limit of the slope excursion"),
        boolean("steady", "1 if both excursions are within their limits"),
        boolean("host_limited", "1 if a value may reflect the host instead of the drive"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let of_test = |outcome: &pts::Outcome| {
        let row = |(number, (variable, window)): (u32, &(String, pts::steady::WindowStats))| {
            vec![
                (&*outcome.test).into(),
                number.into(),
                (&**variable).into(),
                window.first_round.into(),
                window.last_round.into(),
                window.mean.into(),
                window.range.into(),
                window.range_allowed.into(),
                window.slope.into(),
                window.slope_excursion.into(),
                window.slope_allowed.into(),
                window.steady.into(),
                window.host_limited.into(),
            ]
        };
        (1..).zip(&outcome.window).map(row).collect::<Vec<_>>()
    };
    folded.findings.outcomes().iter().flat_map(of_test).collect()
}
