//! PTS-C 1.0, client drives, 6 August 2011.

use stdx::units::GIB;

use crate::profile::Profile;
use crate::profiles::pts_e_1_0;

/// PTS-C 1.0.
pub const PROFILE: Profile = Profile {
    name: "pts-c-1.0",
    revision: "PTS-C 1.0",
    class: "Client",
    active_range_amount_bytes: Some(16 * GIB),
    active_range_segments: 2048,
    ..pts_e_1_0::PROFILE
};
