//! PTS-E 1.1, enterprise drives, 2013: adds HIR, XSR, ECW and DIRTH.

use crate::method::profile::{Edition, Listed, Profile, SaturationEnd};
use crate::method::profiles::pts_e_1_0;

/// PTS-E 1.1: steady state may end WSAT, and Throughput preconditions with the block size under test.
pub const PROFILE: Profile = Profile {
    name: "pts-e-1.1",
    revision: "PTS-E 1.1",
    edition: Edition::V1_1,
    tests: &[
        Listed { family: "iops", clause: "7.0", requirement: "REQUIRED" },
        Listed { family: "tp", clause: "8.0", requirement: "REQUIRED" },
        Listed { family: "lat", clause: "9.0", requirement: "REQUIRED" },
        Listed { family: "wsat", clause: "10.0", requirement: "REQUIRED" },
        Listed { family: "hir", clause: "11.0", requirement: "OPTIONAL" },
        Listed { family: "xsr", clause: "12.0", requirement: "OPTIONAL" },
        Listed { family: "ecw", clause: "13.0", requirement: "OPTIONAL" },
        Listed { family: "dirth", clause: "14.0", requirement: "OPTIONAL" },
    ],
    throughput_preconditions_its_block: true,
    saturation_end: SaturationEnd {
        when_steady: true,
        may_continue: false,
        ..pts_e_1_0::PROFILE.saturation_end
    },
    ..pts_e_1_0::PROFILE
};
