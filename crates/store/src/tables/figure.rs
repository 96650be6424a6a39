//! The figures of each run.

use pts::KeyFigure;
use report::parts::Figure;

use super::table::{Folded, Table, boolean, integer, numbered, real, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "figure",
    about: "One figure, as reports and comparisons print it",
    columns: &[
        integer("number", "Position among the figures of the run, from 1"),
        text("test", "Name of the test; null for a figure of the whole run"),
        text("figure_key", "Key, the same for all runs, such as `iops.rnd4k.w`"),
        text("name", "Name as printed"),
        real("value", "Value in `unit`; null if it was not measured"),
        text("unit", "Unit: `IOPS`, `MB/s`, `ms`, `min`, `GB`, `W`, `IOPS/W` or `MB/s/W`"),
        integer("rounds", "Number of values that were averaged"),
        real(
            "spread_share",
            "Standard deviation over the rounds as a fraction of the mean; null if not a mean of rounds",
        ),
        real("uncertainty", "Uncertainty of the power meter, in `unit`; null for other figures"),
        boolean("host_limited", "1 if the figure may reflect the host instead of the drive"),
        boolean("key_figure", "1 if the figure is on the summary page of its test"),
        boolean(
            "smaller_is_better",
            "1 if smaller values are better: for response times, recovery times and power",
        ),
    ],
    by_test: Some(""),
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let outcomes = folded.findings.outcomes();
    let mut seen: Vec<&str> = Vec::new();
    numbered(folded.figures.iter().map(|figure| {
        let earlier = seen.iter().filter(|test| **test == figure.test).count();
        seen.push(&figure.test);
        let key_figures = outcomes.iter().find(|outcome| outcome.test == figure.test);
        row(figure, key_figures.and_then(|outcome| outcome.key_figures.get(earlier)))
    }))
}

/// Returns a figure as a row; `key_figure` is set if the figure is a key figure.
fn row(figure: &Figure, key_figure: Option<&KeyFigure>) -> Vec<Value> {
    // The mean of the rounds may differ from the printed value in the last bit.
    let value = match key_figure {
        Some(printed) => printed.value,
        None => figure.mean(),
    };
    vec![
        Some(&*figure.test).filter(|test| !test.is_empty()).into(),
        (&*figure.key).into(),
        (&*figure.name).into(),
        value.into(),
        figure.unit.symbol().into(),
        (figure.values.len() as u64).into(),
        figure.spread_share().into(),
        figure.uncertainty.into(),
        figure.host_limited.into(),
        key_figure.is_some().into(),
        figure.unit.is_cost().into(),
    ]
}
