//! The run that differences are relative to.

use compare::{Comparison, Difference};

use crate::facts::Facts;

/// The baseline, and how the run differs from it.
#[derive(Debug, Clone)]
pub struct Baseline {
    pub(crate) facts: Facts,
    pub(crate) differences: Vec<Compared>,
}

/// A figure that both runs contain.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    pub key: String,
    pub name: String,
    /// `None` if the baseline's value is zero.
    pub difference: Option<Difference>,
}

impl Baseline {
    /// Extracts the differences from a comparison of the baseline with the run; `comparison` is `None` if they
    /// have no figures in common.
    #[must_use]
    pub fn of(facts: Facts, comparison: Option<&Comparison>) -> Self {
        let lines = comparison.iter().flat_map(|comparison| &comparison.lines);
        let compared = lines.map(|line| Compared {
            key: line.key.clone(),
            name: line.name.clone(),
            difference: line.differences.get(1).copied().flatten(),
        });
        Self { facts, differences: compared.collect() }
    }
}
