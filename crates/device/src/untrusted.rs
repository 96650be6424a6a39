//! The parsers of on-disk data that others may have crafted, exposed for the fuzz targets and the test of
//! their corpora. The rest of this crate uses the same parsers.

use std::io;
use std::os::unix::fs::FileExt;

use crate::array::{Noted, Spec, description};
use crate::error::DriveError;
use crate::signature;

/// The description of an array, as in `array:FILE.toml`.
#[derive(Debug)]
pub struct ArrayDescription(Spec);

impl ArrayDescription {
    /// Parses a description; error messages name `target`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] with what is wrong.
    pub fn parse(target: &str, text: &str) -> Result<Self, DriveError> {
        description::parse(target, text).map(Self)
    }

    /// Returns the members as named: paths, or addresses behind a controller.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.0.members
    }

    /// Returns the capacity of the array in bytes, for members of these sizes.
    #[must_use]
    pub fn capacity_bytes(&self, members: &[u64]) -> u64 {
        self.0.capacity_bytes(members)
    }
}

/// The note on an array created by a run.
#[derive(Debug, PartialEq, Eq)]
pub struct ArrayNote(Noted);

impl ArrayNote {
    /// Parses a note; `None` if it is not valid.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Noted::parse(text).map(Self)
    }

    /// Returns the text of the note as written to disk.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.0.to_text()
    }
}

/// Searches a device for signatures. Returns start and length of each in bytes.
///
/// # Errors
/// If one of the ends of the device cannot be read.
pub fn signatures(device: &impl FileExt, capacity_bytes: u64) -> io::Result<Vec<(u64, u64)>> {
    Ok(signature::probe(device, capacity_bytes)?.iter().map(signature::Found::place).collect())
}
