//! PTS 2.0 (2.0.1 and 2.0.2), client drives.

use crate::method::profile::{Profile, WriteCache};
use crate::method::profiles::pts_e_2_0;

/// PTS-C 2.0: the tests of PTS-E 2.0 with TC 2 and QD 16, on 75 % of the LBA space, with the write cache on.
pub const PROFILE: Profile = Profile {
    name: "pts-c-2.0",
    revision: "PTS-C 2.0",
    class: "Client",
    write_cache: WriteCache::Enabled,
    threads: 2,
    queue_depth: 16,
    range_percent: 75,
    ..pts_e_2_0::PROFILE
};
