//! PTS-E 1.0, enterprise drives, 26 April 2011.

use crate::profile::{Cell, Profile};

/// PTS-E 1.0.
pub const PROFILE: Profile = Profile {
    name: "pts-e-1.0",
    revision: "PTS-E 1.0",
    class: "Enterprise",
    iops_requirement: "REQUIRED",
    iops_clause: "8.0",
    iops_tracking: &[Cell { block_bytes: 4096, read_percent: 0 }],
    reports_correlation: false,
    threads: 2,
    queue_depth: 16,
    demand_is_free: true,
    range_percent: 100,
    active_range_amount_bytes: None,
    active_range_segments: 2048,
};
