//! PTS 2.0 (2.0.1 and 2.0.2), enterprise drives.

use crate::profile::{Cell, Demand, Edition, Profile, SaturationEnd};
use crate::profiles::pts_e_1_1;

/// PTS-E 2.0: three tracking variables; recommended TC 4, QD 32; response-time histograms.
pub const PROFILE: Profile = Profile {
    name: "pts-e-2.0",
    revision: "PTS-E 2.0",
    edition: Edition::V2_0,
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
