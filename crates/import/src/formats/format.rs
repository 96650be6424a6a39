//! The type of a format, and functions that several formats share.

use crate::imported::Imported;

/// A file format that can be imported.
#[derive(Debug)]
pub struct Format {
    /// Name as typed, such as `tkperf`.
    pub name: &'static str,
    /// Name as printed, such as `TKperf XML`.
    pub title: &'static str,
    /// One-line description for help texts.
    pub about: &'static str,
    /// Maximum file size.
    pub largest_bytes: usize,
    /// Returns whether a file has this format, judging by its first bytes.
    pub is: fn(&[u8]) -> bool,
    /// Parses a complete file. Errors state the problem and its location.
    pub read: fn(&[u8]) -> Result<Imported, String>,
}

/// Returns the first byte that is not white space, skipping a byte-order mark.
pub(super) fn first_byte(bytes: &[u8]) -> Option<u8> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

/// Returns the content as text, without a byte-order mark.
pub(super) fn text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8 text: {error}"))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
