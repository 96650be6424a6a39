//! Errors for data loss that was not confirmed.

use std::path::PathBuf;

/// Data would be lost, and not all of the identities that confirm this were specified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unconfirmed {
    /// Data on a single target.
    #[error("everything on {target} would be lost{}", given_text(.given))]
    Target {
        /// Target as given on the command line.
        target: String,
        /// The identity that confirms the loss.
        identity: String,
        /// The identity that was given.
        given: Option<String>,
    },
    /// Several identities were specified for a single drive.
    #[error("{target} is a single drive, which is confirmed by one identity")]
    OneDrive {
        /// Target as given on the command line.
        target: String,
        /// The second identity.
        second: String,
    },
    /// Data on the members of an array.
    #[error("everything on {} would be lost for {target};{}", .members.join(", "), strange_text(.strange))]
    Members {
        /// Target as given on the command line.
        target: String,
        /// Paths of all members.
        members: Vec<String>,
        /// Given identities that match no member.
        strange: Vec<String>,
        /// Identities of members that are missing.
        missing: Vec<String>,
    },
    /// Data on the members of an array left by an earlier run.
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
