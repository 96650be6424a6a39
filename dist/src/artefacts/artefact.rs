//! A kind of release file, and its inputs.

use crate::packages::Packages;
use crate::payload::Payload;
use crate::release::Release;

/// The inputs of every release file.
pub struct Parts<'a> {
    pub release: &'a Release,
    pub payload: &'a Payload,
    pub packages: &'a Packages,
}

/// A kind of release file.
pub struct Artefact {
    /// Returns the file name.
    pub file: fn(&Release) -> String,
    /// Returns the content, which depends only on the parts.
    pub make: fn(&Parts<'_>) -> anyhow::Result<Vec<u8>>,
}
