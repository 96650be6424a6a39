//! The tests of the PTS, one file each.

mod cbw;
mod dirth;
mod ecw;
mod hdd_iops;
mod hdd_tp;
mod hir;
mod iops;
mod lat;
mod tp;
mod wsat;
mod xsr;

use stdx::units::kib;

pub(crate) use wsat::saturation_figures;

use crate::{Bench, Context, Outcome, Profile};

/// One test of the specification.
#[derive(Debug, Clone, Copy)]
pub struct Test {
    /// As typed: `iops`.
    pub name: &'static str,
    /// What a profile calls it, and what names all tests of the family: `tp` for both block sizes.
    pub family: &'static str,
    /// As printed: `IOPS`.
    pub title: &'static str,
    /// What it does, in a line for help texts.
    pub about: &'static str,
    /// Runs it to its end or until the bench stops it; what was measured is in the outcome either way.
    pub run: fn(&Context<'_>, &mut dyn Bench) -> Outcome,
    /// Cells of one full round, for estimates.
    pub cells_per_round: u32,
    /// Its course over time is the result, so a gap spoils it: resumed, it begins again at its purge.
    pub timeline: bool,
    /// Rounds that it always has; none where steady state or something else ends it.
    pub fixed_rounds: Option<u32>,
}

/// Every test; the last two are those of TKperf for hard disks, and of no specification.
pub const TESTS: &[Test] = &[
    iops::TEST,
    tp::TEST_1024,
    tp::TEST_128,
    lat::TEST,
    wsat::TEST,
    hir::TEST,
    xsr::TEST,
    ecw::TEST,
    cbw::TEST,
    dirth::TEST,
    hdd_iops::TEST,
    hdd_tp::TEST,
];

impl Test {
    /// The test called `name`.
    ///
    /// # Errors
    /// Lists the known names.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        TESTS.iter().find(|test| test.name == name).ok_or_else(|| {
            let known: Vec<_> = TESTS.iter().map(|test| test.name).collect();
            format!("no test '{name}'; available tests: {}", known.join(", "))
        })
    }

    /// The tests that `name` stands for in `profile`: one test, or a family such as `tp` with the block
    /// sizes of the profile in its order.
    ///
    /// # Errors
    /// Lists the known names.
    pub fn all_named(name: &str, profile: &Profile) -> Result<Vec<&'static Self>, String> {
        if name == "tp" {
            return profile
                .throughput_blocks
                .iter()
                .map(|bytes| Self::named(&format!("tp-{}", kib(u64::from(*bytes)))))
                .collect();
        }
        Ok(vec![Self::named(name)?])
    }
}
