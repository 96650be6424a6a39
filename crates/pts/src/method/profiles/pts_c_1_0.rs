//! PTS-C 1.0, client drives, 6 August 2011.

use stdx::units::{GIB, KIB};

use crate::method::profile::{Listed, Profile, WriteCache};
use crate::method::profiles::pts_e_1_0;

/// PTS-C 1.0.
pub const PROFILE: Profile = Profile {
    name: "pts-c-1.0",
    revision: "PTS-C 1.0",
    class: "Client",
    tests: &[
        Listed { family: "wsat", clause: "7.0", requirement: "OPTIONAL" },
        Listed { family: "iops", clause: "8.0", requirement: "REQUIRED" },
        Listed { family: "tp", clause: "9.0", requirement: "REQUIRED" },
        Listed { family: "lat", clause: "10.0", requirement: "REQUIRED" },
    ],
    throughput_blocks: &[1024 * KIB as u32],
    write_cache: WriteCache::Enabled,
    active_range_amount_bytes: Some(16 * GIB),
    active_range_segments: 2048,
    ..pts_e_1_0::PROFILE
};
