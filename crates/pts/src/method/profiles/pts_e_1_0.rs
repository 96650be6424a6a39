//! PTS-E 1.0, enterprise drives, 26 April 2011.

use stdx::units::KIB;

use crate::method::profile::{Cell, Edition, Listed, Profile, SaturationEnd, WriteCache};

/// PTS-E 1.0.
pub const PROFILE: Profile = Profile {
    name: "pts-e-1.0",
    revision: "PTS-E 1.0",
    class: "Enterprise",
    edition: Edition::V1_0,
    tests: &[
        Listed { family: "wsat", clause: "7.0", requirement: "REQUIRED" },
        Listed { family: "iops", clause: "8.0", requirement: "REQUIRED" },
        Listed { family: "tp", clause: "9.0", requirement: "REQUIRED" },
        Listed { family: "lat", clause: "10.0", requirement: "REQUIRED" },
    ],
    iops_tracking: &[Cell { block_bytes: 4096, read_percent: 0 }],
    throughput_blocks: &[1024 * KIB as u32, 128 * KIB as u32],
    throughput_preconditions_its_block: false,
    throughput_demand: None,
    saturation_end: SaturationEnd {
        capacities: 4,
        minutes: 24 * 60,
        when_steady: false,
        may_continue: true,
        most_minutes: 24 * 60,
    },
    write_cache: WriteCache::Disabled,
    reports_correlation: false,
    threads: 2,
    queue_depth: 16,
    demand_is_free: true,
    range_percent: 100,
    active_range_amount_bytes: None,
    active_range_segments: 2048,
    further_range_percents: &[],
    further_amounts_bytes: &[],
    unsourced: &[],
};
