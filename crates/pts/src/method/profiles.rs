//! The built-in profiles, one per file, and their lookup. Each profile is one version of the specification as
//! data.

mod pts_c_1_0;
mod pts_c_1_1;
mod pts_c_1_2;
mod pts_c_2_0;
mod pts_e_1_0;
mod pts_e_1_1;
mod pts_e_2_0;

use record::RunFile;

use crate::method::profile::{Edition, Profile};

/// All profiles.
pub const PROFILES: &[Profile] = &[
    pts_c_1_0::PROFILE,
    pts_e_1_0::PROFILE,
    pts_c_1_1::PROFILE,
    pts_c_1_2::PROFILE,
    pts_e_1_1::PROFILE,
    pts_c_2_0::PROFILE,
    pts_e_2_0::PROFILE,
];

/// The profile for imported runs, to which no version of the specification applies.
const IMPORTED: Profile = Profile {
    name: "imported",
    revision: "NOT PTS",
    class: "Imported",
    edition: Edition::V1_0,
    tests: &[],
    ..pts_e_1_0::PROFILE
};

impl Profile {
    /// Looks up the profile called `name`.
    ///
    /// # Errors
    /// Returns an error if there is no such profile; the message lists all profiles.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        PROFILES.iter().find(|profile| profile.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
            format!("no profile '{name}'; available profiles: {}", known.join(", "))
        })
    }

    /// Returns the profile of a run. Imported runs have a special profile, which is not part of the specification.
    ///
    /// # Errors
    /// Returns an error if this build does not have the run's profile.
    pub fn of(run: &RunFile) -> Result<&'static Self, String> {
        if run.origin.is_some() { Ok(&IMPORTED) } else { Self::named(&run.profile) }
    }
}
