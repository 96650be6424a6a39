//! PTS-C 1.2, client drives, working draft of 18 August 2014. Because no source describes its changes, the profile
//! equals PTS-C 1.1; any difference between the two is unsourced, too.

use crate::method::profile::Profile;
use crate::method::profiles::pts_c_1_1;

/// PTS-C 1.2.
pub const PROFILE: Profile = Profile {
    name: "pts-c-1.2",
    revision: "PTS-C 1.2",
    unsourced: &["any difference from PTS-C 1.1, and everything that is unsourced there"],
    ..pts_c_1_1::PROFILE
};
