//! Fleet errors.

/// Errors of a fleet.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A list of drives, an inventory or a campaign is malformed.
    #[error("{what}: {problem}")]
    Invalid {
        /// The input.
        what: String,
        /// The problem with the input.
        problem: String,
    },
    /// Two drives cannot be distinguished.
    #[error(
        "{one} and {other} both have the identity '{identity}'; only one of them can be in the inventory"
    )]
    Namesakes {
        /// One drive, as HOST:PATH.
        one: String,
        /// The other drive.
        other: String,
        /// Common identity of the drives.
        identity: String,
    },
    /// A campaign selects drives that are not in the inventory.
    #[error("no drive of the inventory {problem}")]
    NoSuchDrive {
        /// The selection.
        problem: String,
    },
}

pub(crate) fn invalid(what: &str, problem: impl std::fmt::Display) -> FleetError {
    FleetError::Invalid { what: what.into(), problem: problem.to_string() }
}
