//! The loss of data that nobody confirmed.

use std::path::PathBuf;

/// Data would be lost, and its loss was not confirmed by the identity of each drive that holds it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unconfirmed {
    /// That of a target.
    #[error("everything on {target} would be lost{}", given_text(.given))]
    Target {
        /// Target as given on the command line.
        target: String,
        /// Identity to confirm with.
        identity: String,
        /// What was given instead.
        given: Option<String>,
    },
    /// More than one identity for a single drive.
    #[error("{target} is a single drive, which is confirmed by one identity")]
    OneDrive {
        /// Target as given on the command line.
        target: String,
        /// The second identity.
        second: String,
    },
    /// That of members of an array.
    #[error("everything on {} would be lost for {target};{}", .members.join(", "), strange_text(.strange))]
    Members {
        /// Target as given on the command line.
        target: String,
        /// Paths of all members.
        members: Vec<String>,
        /// Identities that were given and are not of any member.
        strange: Vec<String>,
        /// Identities of members that were not given.
        missing: Vec<String>,
    },
    /// That of the members of an array that an earlier run left.
    #[error("an earlier run left a RAID {level} and the record {}", .note.display())]
    LeftOver {
        /// RAID level.
        level: u8,
        /// The record of the array.
        note: PathBuf,
        /// Identities of all members.
        members: Vec<String>,
    },
}

fn given_text(given: &Option<String>) -> String {
    given.as_ref().map_or_else(String::new, |text| format!(" and '{text}' is not its identity"))
}

fn strange_text(strange: &[String]) -> String {
    strange.iter().map(|typed| format!(" and '{typed}' does not match any of its members;")).collect()
}
