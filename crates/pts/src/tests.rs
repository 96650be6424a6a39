//! The tests of the PTS, one file each.

mod iops;

use crate::{Bench, Context, Outcome};

/// One test of the specification.
#[derive(Debug, Clone, Copy)]
pub struct Test {
    /// As typed: `iops`.
    pub name: &'static str,
    /// As printed: `IOPS`.
    pub title: &'static str,
    /// What it does, in a line for help texts.
    pub about: &'static str,
    /// Runs it to its end or until the bench stops it; what was measured is in the outcome either way.
    pub run: fn(&Context<'_>, &mut dyn Bench) -> Outcome,
    /// Cells of one full round, for estimates.
    pub cells_per_round: u32,
}

/// Every test.
pub const TESTS: &[Test] = &[iops::TEST];

impl Test {
    /// The test called `name`.
    ///
    /// # Errors
    /// Lists the known names.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        TESTS.iter().find(|test| test.name == name).ok_or_else(|| {
            let known: Vec<_> = TESTS.iter().map(|test| test.name).collect();
            format!("no test '{name}'; there is {}", known.join(", "))
        })
    }
}
