//! The definition of a test: its names, its limits and the function that runs it.

use crate::{Bench, Context, Outcome, Unit};

/// One test of the specification.
#[derive(Debug, Clone, Copy)]
pub struct Test {
    /// Name on the command line: `iops`.
    pub name: &'static str,
    /// Family name in profiles, shared by all tests of the family: `tp` for both block sizes.
    pub family: &'static str,
    /// Title as printed: `IOPS`.
    pub title: &'static str,
    /// Name of the test's figures when runs are compared: the title without a block size.
    pub subject: &'static str,
    /// One-line description for help texts.
    pub about: &'static str,
    /// Runs the test until it completes or the bench stops it; in either case, the outcome has the
    /// measurements.
    pub run: fn(&Context<'_>, &mut dyn Bench) -> Outcome,
    /// Cells in a full round, for estimates.
    pub cells_per_round: u32,
    /// Name of a round in statements about time and cost: 30 cells of write saturation are a cycle, for example.
    pub round_name: &'static str,
    /// Whether the result is a timeline, which a gap invalidates, so that resuming restarts the test at its
    /// purge.
    pub timeline: bool,
    /// Number of rounds, if it is fixed; None if steady state or another condition ends the test.
    pub fixed_rounds: Option<u32>,
    /// Unit of the tracking variables; None if there are none.
    pub tracked_unit: Option<Unit>,
}
