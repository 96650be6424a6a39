//! Parsers of files that an attacker may have crafted, exposed for fuzz targets and for the test that runs their
//! corpora. The commands use the same parsers.

use device::{KnownSettings, Tuning};

use crate::output::signature;
use host::lba_format;
use host::restore;
use host::tuning;
use host::write_cache;

/// All settings that a restore record can request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Host or device settings; refused settings are omitted.
    pub tunings: Vec<Tuning>,
    /// Whether the drive's write cache was on.
    pub write_cache_was_on: Option<bool>,
    /// The drive's original LBA format.
    pub lba_format_was: Option<u8>,
}

/// Reads a restore record.
#[must_use]
pub fn note(bytes: &[u8], known: &KnownSettings) -> Noted {
    let content = restore::parse(bytes);
    Noted {
        tunings: tuning::judged(&content, known).flatten().collect(),
        write_cache_was_on: write_cache::noted(&content),
        lba_format_was: lba_format::noted(&content),
    }
}

/// Returns the bytes of the signature in a `signature.json`.
///
/// # Errors
/// Returns an error that says what is wrong with the signature.
pub fn signature(text: &str) -> Result<[u8; 64], String> {
    signature::parse(text).map(|signature| signature.to_bytes())
}

/// Returns whether a PEM text contains a private key, and whether it contains a public key.
#[must_use]
pub fn holds_keys(pem: &str) -> (bool, bool) {
    (signature::private_key(pem).is_some(), signature::public_key(pem).is_some())
}
