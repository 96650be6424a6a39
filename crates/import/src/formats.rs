//! The formats, one file each.

mod fio;
mod published;
mod tkperf;

use crate::Imported;

/// A format of foreign files.
#[derive(Debug)]
pub struct Format {
    /// As typed: `tkperf`.
    pub name: &'static str,
    /// As printed: `TKperf XML`.
    pub title: &'static str,
    /// What it is, in a line for help texts.
    pub about: &'static str,
    /// Largest file that is read.
    pub largest_bytes: usize,
    /// Whether a file looks like it, by its first bytes.
    pub is: fn(&[u8]) -> bool,
    /// Reads a whole file. Errors say what is wrong and where.
    pub read: fn(&[u8]) -> Result<Imported, String>,
}

/// Every format, in the order in which they are tried.
pub const FORMATS: &[Format] = &[tkperf::FORMAT, fio::FORMAT, published::FORMAT];

/// The first byte that is no white space, behind a byte-order mark.
fn first_byte(bytes: &[u8]) -> Option<u8> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8 text: {error}"))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
