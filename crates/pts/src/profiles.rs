//! The built-in profiles, one per file.

mod pts_c_1_0;
mod pts_c_2_0;
mod pts_e_1_0;
mod pts_e_1_1;
mod pts_e_2_0;

use crate::profile::Profile;

/// All profiles.
pub const PROFILES: &[Profile] =
    &[pts_c_1_0::PROFILE, pts_e_1_0::PROFILE, pts_e_1_1::PROFILE, pts_c_2_0::PROFILE, pts_e_2_0::PROFILE];

/// Provides the page style of runs that are not PTS runs.
pub(crate) const PTS_E_1_0: Profile = pts_e_1_0::PROFILE;
