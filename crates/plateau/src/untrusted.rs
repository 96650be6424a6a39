//! Parsers of files that an attacker may have crafted, exposed for fuzz targets and for the test that runs their
//! corpora. The commands use the same parsers.

pub use host::noted::{Noted, note};

use crate::output::signature;

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
