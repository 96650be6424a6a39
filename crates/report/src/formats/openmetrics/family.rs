//! A metric with its samples.

use stdx::Number;

/// A metric, whose full name ends with its unit.
pub(super) struct Family<'a> {
    pub name: &'a str,
    /// Base unit; empty if there is none.
    pub unit: &'a str,
    pub help: &'a str,
    /// Labels and value of each sample.
    pub samples: Vec<(Vec<(&'a str, &'a str)>, Number)>,
}
