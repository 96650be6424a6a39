//! Parsers for untrusted on-disk data, exposed for fuzz targets and for the tests on their corpora. The rest of this
//! crate uses the same parsers.

use std::io;
use std::os::unix::fs::FileExt;

use crate::array::{Noted, Spec, description};
use crate::error::DriveError;

/// The description of an array, as in `array:FILE.toml`.
#[derive(Debug)]
pub struct ArrayDescription(Spec);

impl ArrayDescription {
    /// Parses a description; error messages name `target`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] with a description of the problem.
    pub fn parse(target: &str, text: &str) -> Result<Self, DriveError> {
        description::parse(target, text).map(Self)
    }

    /// Returns the members as specified: paths, or addresses on a controller.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.0.members
    }

    /// Returns the capacity of the array in bytes, given the sizes of its members.
    #[must_use]
    pub fn capacity_bytes(&self, members: &[u64]) -> u64 {
        self.0.capacity_bytes(members)
    }
}

/// The note about an array that a run created.
#[derive(Debug, PartialEq, Eq)]
pub struct ArrayNote(Noted);

impl ArrayNote {
    /// Parses a note; `None` if it is not valid.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Noted::parse(text).map(Self)
    }

    /// Returns the note in the form that is written to disk.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.0.to_text()
    }
}

/// Searches a device for signatures. Returns the start and length of each signature in bytes.
///
/// # Errors
/// Returns an error if the start or the end of the device cannot be read.
pub fn signatures(device: &impl FileExt, capacity_bytes: u64) -> io::Result<Vec<(u64, u64)>> {
    Ok(::signatures::probe(device, capacity_bytes)?.iter().map(::signatures::Found::place).collect())
}
