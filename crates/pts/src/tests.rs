//! The PTS tests, one per file, and the table of all of them. Each test follows the text of the clause that its
//! module comment names; its parameters, answers and pages are in the folder of the same name.

mod burn_in;
mod cbw;
mod client_write;
mod dirth;
mod ecw;
mod hdd_iops;
mod hdd_tp;
mod hir;
mod iops;
mod jesd219;
mod lat;
mod tp;
mod wsat;
mod xsr;

use stdx::units::kib;

pub(crate) use wsat::{LAST_MINUTES, not_judged, saturation_figures};

use crate::{Profile, Test};

/// All tests. The tests after DIRTH are not part of the PTS: they are TKperf's hard disk tests and Plateau's
/// own tests.
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
    client_write::TEST,
    burn_in::TEST,
    jesd219::TEST,
];

impl Test {
    /// Looks up the test called `name`.
    ///
    /// # Errors
    /// Returns an error if there is no such test; the message lists all tests.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        TESTS.iter().find(|test| test.name == name).ok_or_else(|| {
            let known: Vec<_> = TESTS.iter().map(|test| test.name).collect();
            format!("no test '{name}'; available tests: {}", known.join(", "))
        })
    }

    /// Returns the tests that `name` refers to in `profile`: a single test, or a family such as `tp` with the
    /// block sizes and order in the profile.
    ///
    /// # Errors
    /// Returns an error if there is no such test; the message lists all tests.
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
