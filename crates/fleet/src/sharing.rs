//! What drives share, and whether a campaign avoids using a shared resource for several jobs at the same time.

use serde::{Deserialize, Serialize};

/// Whether drives that share a link or an enclosure are tested at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contention {
    /// Drives that share a link are tested one after another, which licenses enforce.
    #[default]
    Avoid,
    /// Like [`Avoid`](Self::Avoid), but also for the drives in an enclosure.
    AvoidInEnclosures,
    /// All drives are tested at the same time.
    Allow,
}

/// An enclosure of drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enclosure {
    /// Identified by its logical id, which is the same on every host that is connected to it.
    Id(String),
    /// Identified by its name on one host.
    Local(String),
}
