//! The parsers of what others may have prepared on disk, for the fuzz targets and the test of their corpora. Each is the
//! one that the rest of this crate calls.

use std::io;
use std::os::unix::fs::FileExt;

use crate::array::{Noted, Spec};
use crate::error::DriveError;
use crate::signature;

/// The description of an array, as in `array:FILE.toml`.
#[derive(Debug)]
pub struct ArrayDescription(Spec);

impl ArrayDescription {
    /// Reads the text of a description; `target` is named in what is wrong with it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] with what cannot be.
    pub fn parse(target: &str, text: &str) -> Result<Self, DriveError> {
        Spec::parse(target, text).map(Self)
    }

    /// As they are named: paths, or addresses behind a controller.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.0.members
    }

    /// Bytes of the array over members of these sizes.
    #[must_use]
    pub fn capacity_bytes(&self, members: &[u64]) -> u64 {
        self.0.capacity_bytes(members)
    }
}

/// The note of an array that a run has created.
#[derive(Debug, PartialEq, Eq)]
pub struct ArrayNote(Noted);

impl ArrayNote {
    /// Reads a note; none where it makes no sense.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Noted::parse(text).map(Self)
    }

    /// As it is written.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.0.to_text()
    }
}

/// Looks for signatures on a device; start and length in bytes of each.
///
/// # Errors
/// Fails when one of the ends of the device cannot be read.
pub fn signatures(device: &impl FileExt, capacity_bytes: u64) -> io::Result<Vec<(u64, u64)>> {
    Ok(signature::probe(device, capacity_bytes)?.iter().map(signature::Found::place).collect())
}
