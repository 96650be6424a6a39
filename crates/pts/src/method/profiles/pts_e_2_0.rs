//! PTS 2.0 (2.0.1 and 2.0.2), enterprise drives.

use crate::method::profile::{Cell, Demand, Edition, Listed, Profile, SaturationEnd};
use crate::method::profiles::pts_e_1_1;

/// PTS-E 2.0: three tracking variables; CBW instead of ECW; recommended TC 4, QD 32; response-time histograms.
pub const PROFILE: Profile = Profile {
    name: "pts-e-2.0",
    revision: "PTS-E 2.0",
    edition: Edition::V2_0,
    tests: &[
        Listed { family: "iops", clause: "7.0", requirement: "REQUIRED" },
        Listed { family: "tp", clause: "8.0", requirement: "REQUIRED" },
        Listed { family: "lat", clause: "9.0", requirement: "REQUIRED" },
        Listed { family: "wsat", clause: "10.0", requirement: "REQUIRED" },
        Listed { family: "hir", clause: "11.0", requirement: "OPTIONAL" },
        Listed { family: "xsr", clause: "12.0", requirement: "OPTIONAL" },
        Listed { family: "cbw", clause: "13.0", requirement: "OPTIONAL" },
        Listed { family: "dirth", clause: "14.0", requirement: "OPTIONAL" },
    ],
    iops_tracking: &[
        Cell { block_bytes: 4096, read_percent: 0 },
        Cell { block_bytes: 64 << 10, read_percent: 65 },
        Cell { block_bytes: 1 << 20, read_percent: 100 },
    ],
    throughput_demand: Some(Demand { threads: 1, queue_depth: 32 }),
    saturation_end: SaturationEnd { minutes: 6 * 60, ..pts_e_1_1::PROFILE.saturation_end },
    reports_correlation: true,
    threads: 4,
    queue_depth: 32,
    ..pts_e_1_1::PROFILE
};
