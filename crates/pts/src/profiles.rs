//! The known profiles, one file each.

mod pts_c_1_0;
mod pts_c_2_0;
mod pts_e_1_0;
mod pts_e_1_1;
mod pts_e_2_0;

use crate::profile::Profile;

/// Every profile.
pub const PROFILES: &[Profile] =
    &[pts_c_1_0::PROFILE, pts_e_1_0::PROFILE, pts_e_1_1::PROFILE, pts_c_2_0::PROFILE, pts_e_2_0::PROFILE];

/// What runs that are no runs of the PTS borrow their page style from.
pub(crate) const PTS_E_1_0: Profile = pts_e_1_0::PROFILE;
