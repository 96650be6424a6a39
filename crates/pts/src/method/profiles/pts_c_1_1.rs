//! PTS-C 1.1, client drives, between 2012 and 2014. It is known only from a public implementation (shell scripts)
//! of IOPS and the active range; everything else is taken from PTS-C 1.0 and listed as unsourced.

use stdx::units::GIB;

use crate::method::profile::Profile;
use crate::method::profiles::pts_c_1_0;

/// PTS-C 1.1: the tests of PTS-C 1.0, with a choice of active ranges.
pub const PROFILE: Profile = Profile {
    name: "pts-c-1.1",
    revision: "PTS-C 1.1",
    further_range_percents: &[75],
    further_amounts_bytes: &[8 * GIB],
    unsourced: &[
        "its clause numbers",
        "which tests are required",
        "its report pages",
        "the end of WSAT",
        "the block size of throughput preconditioning",
        "the state of the write cache",
    ],
    ..pts_c_1_0::PROFILE
};
