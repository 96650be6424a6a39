//! The hash chain of a journal: one hashed line per record, so that a changed, lost or swapped line breaks the chain
//! from that point on.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// A link in the hash chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.hex().iter().try_for_each(|digit| f.write_char(char::from(*digit)))
    }
}

impl Digest {
    /// Returns the link of the next record.
    pub(crate) fn next(self, json: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(self.hex());
        hasher.update(json.as_bytes());
        Self(hasher.finalize().into())
    }

    /// Returns the SHA-256 of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the link at the beginning of a line; `None` if the line does not begin with one.
    pub(crate) fn stated_in(line: &[u8]) -> Option<Self> {
        let nibble = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
        let mut link = [0; 32];
        for (byte, pair) in link.iter_mut().zip(line.get(..64)?.as_chunks::<2>().0) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(link))
    }

    /// Returns the digest with this displayed form.
    #[must_use]
    pub fn of_hex(hex: &str) -> Option<Self> {
        Self::stated_in(hex.as_bytes()).filter(|digest| digest.is(hex))
    }

    /// Returns whether `hex` is the displayed form of this digest.
    #[must_use]
    pub fn is(self, hex: &str) -> bool {
        hex.as_bytes() == self.hex()
    }

    /// Returns the displayed form.
    fn hex(self) -> [u8; 64] {
        let mut hex = [0; 64];
        for (pair, byte) in hex.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
        }
        hex
    }
}

/// Returns the version in the first line of a journal; `None` if the line is not `magic`, a number and a newline.
pub(crate) fn version_in(header: &[u8], magic: &str) -> Option<u32> {
    std::str::from_utf8(header).ok()?.strip_prefix(magic)?.strip_suffix('\n')?.parse().ok()
}

/// Returns a record's line and its link.
pub(crate) fn line_of(json: &str, chain: Digest) -> (String, Digest) {
    let link = chain.next(json);
    (format!("{link} {json}\n"), link)
}

/// Returns the JSON in a record's line, and the line's link.
///
/// # Errors
/// Returns a description of the problem if the line does not continue the chain.
pub(crate) fn json_in(line: &[u8], chain: Digest) -> Result<(&str, Digest), String> {
    let text = std::str::from_utf8(line).map_err(|_| "not text".to_owned())?;
    let text = text.strip_suffix('\n').ok_or("incomplete")?;
    let (hash, json) = text.split_at_checked(64).ok_or("too short")?;
    let json = json.strip_prefix(' ').ok_or("no space after the hash")?;
    let link = chain.next(json);
    if link.is(hash) {
        Ok((json, link))
    } else {
        Err("its hash does not match: this record or an earlier one was changed".into())
    }
}

/// Returns whether a line is invalid because only part of it reached the disk before the writer stopped. That
/// can happen only to the last line. An unfinished line has no newline, or it contains zero bytes that a power
/// cut left in place of data (JSON never contains any).
pub(crate) fn is_unfinished(line: &[u8], is_last: bool) -> bool {
    is_last && (!line.ends_with(b"\n") || line.contains(&0))
}
