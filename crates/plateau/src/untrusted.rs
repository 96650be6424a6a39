//! The parsers of what others may have prepared on disk, for the fuzz targets and the test of their corpora. Each is the
//! one that the commands call.

use drive::{KnownSettings, Tuning};

use crate::{lba_format, signature, tuning, undo, write_cache};

/// Everything that a note of changed settings can ask to be restored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Settings of the host or a device; those that are refused are left out.
    pub tunings: Vec<Tuning>,
    /// Whether the drive's write cache was on.
    pub write_cache_was_on: Option<bool>,
    /// The LBA format that the drive had.
    pub lba_format_was: Option<u8>,
}

/// Reads a note of changed settings.
#[must_use]
pub fn note(bytes: &[u8], known: &KnownSettings) -> Noted {
    let content = undo::parse(bytes);
    Noted {
        tunings: tuning::judged(&content, known).flatten().collect(),
        write_cache_was_on: write_cache::noted(&content),
        lba_format_was: lba_format::noted(&content),
    }
}

/// The bytes of the signature in a `signature.json`.
///
/// # Errors
/// With what is wrong with it.
pub fn signature(text: &str) -> Result<[u8; 64], String> {
    signature::parse(text).map(|signature| signature.to_bytes())
}

/// Whether a text in PEM holds a private key, and whether it holds a public one.
#[must_use]
pub fn holds_keys(pem: &str) -> (bool, bool) {
    (signature::private_key(pem).is_some(), signature::public_key(pem).is_some())
}
